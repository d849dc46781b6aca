// The files of a run.

import { useQuery } from "@tanstack/react-query";
import { artifactAddress, artifactQuery, artifactsQuery } from "../../../api/queries";
import type { Artifact } from "../../../api/types";
import { bytes, count } from "../../../ui/format";
import { Fold } from "../../../ui/Fold";
import { Empty, ErrorNote } from "../../../ui/Note";
import { Report, Text } from "../../../ui/Value";
import ui from "../../../ui/ui.module.css";
import styles from "../run.module.css";
import { useWatched } from "../state/useRun";

/** A larger file can only be downloaded. */
const SHOWN_MAX = 1 << 20;

export function Files() {
  const { run } = useWatched();
  const { data, error } = useQuery(artifactsQuery(run));
  if (error) return <ErrorNote error={error} />;
  const elsewhere = data?.elsewhere?.join(", ");
  if (data?.artifacts.length === 0)
    return (
      <Empty title={elsewhere ? "No files here" : "No files"}>
        <p>{elsewhere ? `The files of this run are on ${elsewhere}.` : "The steps of this run have written no files."}</p>
      </Empty>
    );
  return (
    <>
      {elsewhere && <p className="quiet">There are more on {elsewhere}.</p>}
      {data?.more && <p className="quiet">There are more files than these {count(data.artifacts.length, "file")}.</p>}
      <ul className={styles.files}>
        {data?.artifacts.map((file) => (
          <li key={file.name}>
            <OneFile file={file} />
          </li>
        ))}
      </ul>
    </>
  );
}

function OneFile({ file }: { file: Artifact }) {
  const { run } = useWatched();
  const title = (
    <>
      <span className="mono">{file.name}</span> <span className="quiet">{bytes(file.bytes)}</span>
    </>
  );
  if (file.kind === "other" || file.bytes > SHOWN_MAX)
    return (
      <p>
        {title}{" "}
        <a href={artifactAddress(run, file.name)} download>
          fetch it
        </a>
      </p>
    );
  return <Fold title={title}>{() => <Content file={file} />}</Fold>;
}

function Content({ file }: { file: Artifact }) {
  const { run } = useWatched();
  const { data, error } = useQuery(artifactQuery(run, file.name));
  if (error) return <ErrorNote error={error} />;
  if (data === undefined) return null;
  if (file.kind === "diff") return <Diff text={data} />;
  return file.name.endsWith(".md") ? <Report text={data} /> : <Text text={data} />;
}

function Diff({ text }: { text: string }) {
  const side = (line: string) => (/^\+(?!\+\+ )/.test(line) ? "add" : /^-(?!-- )/.test(line) ? "del" : undefined);
  return (
    <pre className={ui.pre} tabIndex={0}>
      {text.split("\n").map((line, at) => (
        <span key={at} className={ui.diffLine} data-side={side(line)}>
          {line}
        </span>
      ))}
    </pre>
  );
}
