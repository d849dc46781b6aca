// Shows Markdown. The tree becomes elements, never HTML text, so nothing in it can run; images are links.

import { memo, type ReactNode, useMemo } from "react";
import ui from "../ui.module.css";
import type { Inline } from "./inline";
import { plainText } from "./inline";
import styles from "./markdown.module.css";
import { type Block, parse } from "./parse";

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => parse(text), [text]);
  return (
    <div className={styles.markdown}>
      <Blocks blocks={blocks} />
    </div>
  );
});

function Blocks({ blocks }: { blocks: Block[] }) {
  return blocks.map((block, at) => <One key={at} block={block} />);
}

function One({ block }: { block: Block }): ReactNode {
  switch (block.kind) {
    case "paragraph":
      return (
        <p>
          <Inlines inside={block.inside} />
        </p>
      );
    case "heading":
      // The page has its own headings; those of a text are below them.
      return (
        <p className={styles.heading} data-level={block.level} role="heading" aria-level={Math.min(block.level + 2, 6)}>
          <Inlines inside={block.inside} />
        </p>
      );
    case "code":
      return (
        <pre className={ui.pre} tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "quote":
      return (
        <blockquote className={styles.quote}>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case "list":
      return <List block={block} />;
    case "table":
      return <Table block={block} />;
    case "rule":
      return <hr className={styles.rule} />;
  }
}

function List({ block }: { block: Extract<Block, { kind: "list" }> }) {
  const items = block.items.map((item, at) => (
    <li key={at}>
      <Blocks blocks={item} />
    </li>
  ));
  return block.ordered ? (
    <ol className={styles.list} start={block.start}>
      {items}
    </ol>
  ) : (
    <ul className={styles.list}>{items}</ul>
  );
}

function Table({ block: { head, rows } }: { block: Extract<Block, { kind: "table" }> }) {
  return (
    <div className={ui.scroll} tabIndex={0}>
      <table className={ui.table} data-cards>
        <thead>
          <tr>
            {head.map((cell, at) => (
              <th key={at} scope="col">
                <Inlines inside={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, at) => (
                <td key={at} data-label={plainText(head[at] ?? [])}>
                  <Inlines inside={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Inlines({ inside }: { inside: Inline[] }) {
  return inside.map((one, at) => <Piece key={at} piece={one} />);
}

function Piece({ piece }: { piece: Inline }): ReactNode {
  switch (piece.kind) {
    case "text":
      return piece.text;
    case "code":
      return <code>{piece.text}</code>;
    case "break":
      return <br />;
    case "strong":
      return (
        <strong>
          <Inlines inside={piece.inside} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Inlines inside={piece.inside} />
        </em>
      );
    case "del":
      return (
        <del>
          <Inlines inside={piece.inside} />
        </del>
      );
    case "link":
      return <Anchor link={piece} />;
  }
}

/** The longest part of an address that is shown. */
const SHOWN_MAX = 80;

/** A link with the address where it leads, because its words may say something else. */
function Anchor({ link: { href, inside, isImage } }: { link: Extract<Inline, { kind: "link" }> }) {
  const words = plainText(inside).trim();
  const isAddress = words === href || `${words}/` === href;
  const shown = href.length > SHOWN_MAX ? `${href.slice(0, SHOWN_MAX)}…` : href;
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        <bdi>
          {isImage && "image: "}
          {words ? <Inlines inside={inside} /> : shown}
        </bdi>
      </a>
      {words && !isAddress && (
        <bdi className={styles.target} title={href}>
          {" "}
          ({shown})
        </bdi>
      )}
    </>
  );
}
