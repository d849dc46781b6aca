// A form for a value, made from its JSON Schema, with the raw JSON as another way.

import { useEffect, useId, useMemo, useRef, useState } from "react";
import type { Json } from "../../api/types";
import { Tabs } from "../Tabs";
import { type Draft, draftOf, type Errors, jsonText, placed, read } from "./draft";
import { Frame } from "./Frame";
import styles from "./form.module.css";
import { modelOf, type Node } from "./model";
import { Part } from "./Part";
import { JsonText } from "./Scalar";

type Way = "form" | "json";

/** What is entered in a form. */
export interface Entered {
  model: Node;
  draft: Draft;
  way: Way;
  text: string;
  errors: Errors;
  /** Whether the errors are the server's; the form cannot know when they are fixed. */
  isServer: boolean;
  /** How often errors were shown. */
  tries: number;
}

export interface SchemaFormState {
  entered: Entered;
  change: (changed: Partial<Entered>) => void;
  /** The value, or nothing if it has errors, which the form then shows. */
  submit: () => { value: Json } | undefined;
  /** Shows errors of the server. */
  complain: (errors: Errors) => void;
}

const NOT_JSON = "This must be JSON: text in double quotes, lists in [ ], objects in { }.";

/** The state of a form for a schema, with a value to start from. */
export function useSchemaForm(schema: Json | undefined, initial: Json | undefined): SchemaFormState {
  const [entered, set] = useState<Entered>(() => {
    const model = modelOf(schema);
    return { model, draft: draftOf(model, initial, true), way: "form", text: "", errors: new Map(), isServer: false, tries: 0 };
  });
  const change = (changed: Partial<Entered>) => set((before) => checked({ ...before, ...changed }));
  const show = (errors: Errors, isServer: boolean) => set((before) => ({ ...before, errors, isServer, tries: before.tries + 1 }));
  const complain = (errors: Errors) => show(errors, true);
  const submit = () => {
    const { value, errors } = entered.way === "json" ? parsed(entered.text) : read(entered.model, entered.draft);
    show(errors, false);
    return errors.size || value === undefined ? undefined : { value };
  };
  return { entered, change, submit, complain };
}

/** Without the errors that are fixed by now. */
function checked(entered: Entered): Entered {
  const { errors, isServer, way, model, draft } = entered;
  if (errors.size === 0 || isServer || way === "json") return entered;
  const left = read(model, draft).errors;
  return { ...entered, errors: new Map([...errors.keys()].flatMap((at) => (left.has(at) ? [[at, left.get(at) ?? ""]] : []))) };
}

function parsed(text: string): { value: Json | undefined; errors: Errors } {
  try {
    return { value: JSON.parse(text) as Json, errors: new Map() };
  } catch {
    return { value: undefined, errors: new Map([["", NOT_JSON]]) };
  }
}

export function SchemaForm({ state, label }: { state: SchemaFormState; label: string }) {
  const id = useId();
  const { model, draft, way, text, errors, tries } = state.entered;
  const shown = useMemo(() => (way === "json" ? allAtTop(errors) : placed(model, draft, errors)), [way, model, draft, errors]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (tries > 0) box.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [tries]);
  const hasTabs = model.kind === "object" || model.kind === "list" || model.kind === "either" || way === "json";
  return (
    <div className={styles.form} ref={box}>
      {hasTabs && (
        <Tabs
          label="How to edit"
          prefix={id}
          tabs={[
            { id: "form", title: "Form" },
            { id: "json", title: "JSON" },
          ]}
          chosen={way}
          choose={(next) => turn(state, next)}
        />
      )}
      {way === "json" ? (
        <Frame id={id} label={label} node={{ ...model, kind: "json", hint: "The whole value, as JSON.", anything: false }} required wrong={shown.get("")}>
          <JsonText id={id} described={`${id}-about`} text={text} type={(text) => state.change({ text })} wrong={shown.get("")} required />
        </Frame>
      ) : (
        <Part node={model} draft={draft} change={(draft) => state.change({ draft })} label={label} at="" required errors={shown} />
      )}
    </div>
  );
}

function allAtTop(errors: Errors): Errors {
  const lines = [...errors].map(([at, message]) => (at ? `${at}: ${message}` : message));
  return lines.length ? new Map([["", lines.join(" ")]]) : errors;
}

/** Takes what is entered to the other way. Text that is no JSON stays where it is. */
function turn({ entered, change, complain }: SchemaFormState, next: Way): void {
  if (next === entered.way) return;
  if (next === "json") return change({ way: "json", text: jsonText(read(entered.model, entered.draft).value), errors: new Map() });
  const { value, errors } = parsed(entered.text);
  if (value === undefined) return complain(errors);
  change({ way: "form", draft: draftOf(entered.model, value, true), errors: new Map() });
}
