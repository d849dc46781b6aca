// Chooses an item or a round of a loop, counted from 0 as in the path of a step: from a list, or typed if the list would be long.

const LIST_MAX = 50;

interface Props {
  /** `item` or `round`. */
  word: string;
  label: string;
  count: number;
  chosen: number | undefined;
  choose: (turn: number | undefined) => void;
  className: string | undefined;
}

export function TurnField({ word, label, count, chosen, choose, className }: Props) {
  if (count > LIST_MAX) {
    const read = (text: string) => choose(/^\d+$/.test(text) && Number(text) < count ? Number(text) : undefined);
    return (
      <input
        type="number"
        min={0}
        max={count - 1}
        className={className}
        aria-label={label}
        placeholder={`all ${count}`}
        defaultValue={chosen ?? ""}
        onChange={(event) => read(event.target.value)}
      />
    );
  }
  return (
    <select
      className={className}
      aria-label={label}
      value={chosen ?? "all"}
      onChange={(event) => choose(event.target.value === "all" ? undefined : Number(event.target.value))}
    >
      <option value="all">all {count}</option>
      {Array.from({ length: count }, (_, at) => (
        <option key={at} value={at}>
          {word} {at}
        </option>
      ))}
    </select>
  );
}
