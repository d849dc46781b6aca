import { Link } from "@tanstack/react-router";
import { Empty } from "./Note";

export function NotFound() {
  return (
    <Empty title="There is no such page" page>
      <p>
        Go to the <Link to="/runs">runs</Link>.
      </p>
    </Empty>
  );
}
