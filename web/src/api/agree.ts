// Fails to compile if a page reads a field that the server does not promise.
//
// Some types in `types.ts` say more than the server's description does, for example which words a status can be. This file
// compares them field by field: each field must exist, and a field that pages require must always be sent.

import type { Made } from "./made";
import type * as types from "./types";

type Gap<Page, Server> = {
  [Field in keyof Page]-?: Field extends keyof Server
    ? undefined extends Server[Field]
      ? undefined extends Page[Field]
        ? never
        : Field
      : never
    : Field;
}[keyof Page];

interface Gaps {
  Attempt: Gap<types.Attempt, Made<"Attempt">>;
  Cost: Gap<types.Cost, Made<"Cost">>;
  Diagnostic: Gap<types.Diagnostic, Made<"Diagnostic">>;
  Graph: Gap<types.Graph, Made<"Graph">>;
  GraphEdge: Gap<types.GraphEdge, Made<"Edge">>;
  GraphNode: Gap<types.GraphNode, Made<"GraphNode">>;
  Layout: Gap<types.Layout, Made<"Layout">>;
  Origin: Gap<types.Origin, Made<"Origin">>;
  Problem: Gap<types.Problem, Made<"Problem">>;
  Question: Gap<types.Question, Made<"Question">>;
  Questions: Gap<types.Questions, Made<"Questions">>;
  Run: Gap<types.Run, Made<"Run">>;
  RunRow: Gap<types.RunRow, Made<"RunRow">>;
  Step: Gap<types.Step, Made<"StepView">>;
  Summary: Gap<types.RunRow["summary"], Made<"Summary">>;
  Tally: Gap<types.Tally, Made<"Tally">>;
  Usage: Gap<types.Usage, Made<"Usage">>;
  Workflow: Gap<types.Workflow, Made<"Workflow">>;
  WorkflowRow: Gap<types.WorkflowRow, Made<"WorkflowRow">>;
}

type None<Field extends never> = Field;
export type Agreed = None<Gaps[keyof Gaps]>;
