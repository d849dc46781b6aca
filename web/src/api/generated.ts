// Made from the OpenAPI document by types/make.mjs; not to be edited.

export interface components {
    schemas: {
        /** @description Information about a server. */
        About: {
            /** @description Whether this server drives runs, or only shows them. */
            drives: boolean;
            /**
             * Format: int64
             * @description The time of its clock.
             */
            now: number;
            /** @description The folder of the project. */
            project: string;
            /** @description The role of the caller. */
            role?: components["schemas"]["Role"] | null;
            /** @description Whether the caller's token names nobody. */
            shared?: boolean;
            store: string;
            /** @description The caller. If the token names nobody, the user who runs the server. */
            user?: string | null;
            version: string;
        };
        /** @description A limit from now on. */
        Amount: {
            /** Format: double */
            to: number;
        } | {
            /** Format: double */
            by: number;
        };
        /** @description A limit from now on. */
        Amount2: {
            /** Format: uint64 */
            to: number;
        } | {
            /** Format: uint64 */
            by: number;
        };
        /** @description An answer. */
        Answering: {
            answer: components["schemas"]["Said"];
            /** @default null */
            comment: string | null;
            /**
             * @description Answer in the owner's place.
             * @default false
             */
            override: boolean;
            /** @description The step that asks. */
            path: string;
            /**
             * @description The hash of the text that the caller saw.
             * @default null
             */
            shown: string | null;
        };
        /** @description An approval that was given while more are needed. */
        Approval: {
            /**
             * Format: int64
             * @description When they gave it.
             */
            at: number;
            /** @description The person. */
            by: string;
            /** @description What they said beside it. */
            comment?: string | null;
        };
        /** @description What a gate asks for. */
        ApprovalRule: components["schemas"]["Approvers"] | {
            /**
             * Format: uint32
             * @default 1
             */
            count: number;
            /** @default anyone */
            from: components["schemas"]["Approvers"];
            not_starter?: boolean;
        };
        /** @description Who may answer. */
        Approvers: string | string[];
        /** @description A rectangle, from its upper left corner. */
        Area: {
            /**
             * Format: double
             * @description The height.
             */
            height: number;
            /**
             * Format: double
             * @description The width.
             */
            width: number;
            /**
             * Format: double
             * @description The left side.
             */
            x: number;
            /**
             * Format: double
             * @description The upper side.
             */
            y: number;
        };
        /** @description A file of a run. */
        Artifact: {
            /** Format: uint64 */
            bytes: number;
            /** @enum {string} */
            kind: "text" | "diff" | "json" | "other";
            name: string;
        };
        /** @description The files of a run, by name. */
        Artifacts: {
            artifacts: components["schemas"]["Artifact"][];
            /** @description Machines with files of the run that are not here. */
            elsewhere?: string[];
            /** @description Whether there are more files than are listed. */
            more?: boolean;
        };
        /** @description An attempt, and the data that exists about it. */
        Attempt: {
            /** @description The agent that made it, if any. */
            agent?: string | null;
            /**
             * Format: uint32
             * @description The number of the attempt, from 1.
             */
            attempt: number;
            /** @description Whether the result comes from an earlier run. */
            cached?: boolean;
            /**
             * Format: int64
             * @description The time at which it ended.
             */
            ended_at?: number | null;
            /** @description The failure, if it failed. */
            error?: components["schemas"]["Failure"] | null;
            /**
             * Format: int32
             * @description The exit code of a command.
             */
            exit_code?: number | null;
            /** @description The data that you can ask for: `transcript`, `stdout`, `stderr`. */
            has: string[];
            /** @description The machine that made it, if several machines share a store. */
            host?: string | null;
            /** @description Its output. */
            output?: unknown;
            /** @description The prompt of the agent. */
            prompt?: string | null;
            /** @description How its agent continued after the attempt before had failed, in words. */
            rung?: string | null;
            /** @description The agent's session. */
            session?: string | null;
            /**
             * Format: int64
             * @description The time at which it started, or started to wait.
             */
            started_at: number;
            /**
             * @description `waiting` for a worker, `running`, `succeeded`, `failed` or `stopped`.
             * @enum {string}
             */
            status: "waiting" | "running" | "succeeded" | "failed" | "stopped";
            /** @description Its tokens and cost. */
            usage?: components["schemas"]["Usage"] | null;
            /** @description The worker that claimed it. */
            worker?: string | null;
        };
        /** @description The attempts of a step, oldest first. */
        Attempts: {
            attempts: components["schemas"]["Attempt"][];
            path: components["schemas"]["StepPath"];
        };
        /** @description A running agent. */
        AtWork: {
            /** @description The name of the agent. */
            name: string;
            /** @description Its session, once the session has a name. */
            session?: string | null;
            /**
             * Format: int64
             * @description The time at which it started.
             */
            since: number;
        };
        /** @description Changes limits of a run. Each is `{"to": N}`, the new limit, or `{"by": N}`, added to the limit. */
        Budget: components["schemas"]["BudgetChange"];
        /** @description New limits of a run. Those that are not named stay. */
        BudgetChange: {
            /** @description Time since the start of the run, in milliseconds. */
            duration_ms?: components["schemas"]["Amount2"] | null;
            /** @description Executed steps. */
            steps?: components["schemas"]["Amount2"] | null;
            /** @description Tokens, read and written. */
            tokens?: components["schemas"]["Amount2"] | null;
            /** @description Money, in US dollars. */
            usd?: components["schemas"]["Amount"] | null;
        };
        /** @description Cancels a run. */
        Cancel: {
            /** @default null */
            reason: string | null;
        };
        /** @description The thing to check: a text, or a workflow of the list. */
        Check: {
            /** @default null */
            dialect: string | null;
            /** @default null */
            file: string | null;
            /** @default null */
            source: string | null;
            /** @default null */
            workflow: string | null;
        };
        /** @description The findings. */
        Checked: {
            diagnostics: components["schemas"]["Diagnostic"][];
            ok: boolean;
            picture?: components["schemas"]["Picture"] | null;
        };
        /** @description The outcome of a command that was applied. */
        CommandOutcome: {
            /**
             * Format: int64
             * @description Milliseconds since 1970, UTC.
             */
            at: number;
            /** @description The name of the caller. */
            by?: string | null;
            /** @description Why the run ended, if it did. */
            message?: string | null;
            /** @description `approved`, `denied`, `edited`, `answered`, `skipped`, `signalled`, `told`, `changed`, `cancelled`, `paused`, `unpaused`, `stopped`, `resumed`, `restarted`, `abandoned`. */
            outcome: string;
            /** @description The run it changed. */
            run: string;
            /**
             * Format: uint64
             * @description The event that records it; 0 while it is only stored.
             */
            seq: number;
            /** @description The step that the command is about. */
            step?: string | null;
            /** @description The outcome in one or two sentences. */
            text: string;
            /**
             * @description How the run continues: `continues`, `needs_engine`, `waits`, `paused`, `stopped`, `client`, `succeeded`, `failed`,
             *     `cancelled`, `stored`.
             */
            then: string;
        };
        /** @description One step of a comparison. */
        ComparedStep: {
            /**
             * Format: uint
             * @description How many results are made again.
             */
            again?: number;
            /** @description How it differs. */
            change: components["schemas"]["StepChange"];
            /** @description What follows. */
            fate: components["schemas"]["Fate"];
            /**
             * Format: uint
             * @description How many results are kept.
             */
            kept?: number;
            /** @description The parts that differ. */
            parts?: string[];
            /** @description The ids of the step and of what it is in. */
            step: string;
            /**
             * Format: uint
             * @description How many results are not used any more.
             */
            unused?: number;
            /** @description The step of the old plan that it comes from, or may come from, if that has another path. */
            was?: string | null;
            /** @description Why, in words. */
            why?: string | null;
        };
        /** @description What a changed workflow means for a run. */
        Comparison: {
            /** @description Steps that had a result and run again. */
            again: string[];
            /** @description Steps about which a person has to decide: keep a result that may be theirs, or run them. */
            asks: string[];
            /** @description Steps that had run and that the new plan does not have. */
            dropped: string[];
            /** @description A hash of all this and of the state of the run. Send it back to apply exactly this. */
            hash: string;
            /** @description Inputs whose values differ. */
            inputs: string[];
            /** @description Steps that keep their results. */
            kept: string[];
            /** @description What else there is to know. */
            notes: string[];
            /** @description Every step of the new plan, and every step that only the old plan has. */
            rows: components["schemas"]["ComparedStep"][];
        };
        /** @description The cost of a run. */
        Cost: {
            /** @description The cost by persona or agent: the one that the step names, or the one that replaced it. */
            agents: {
                [key: string]: components["schemas"]["Usage"];
            };
            /** @description The amount reserved for turns whose cost was never reported. */
            assumed: components["schemas"]["Usage"];
            /** @description The limits on spending. */
            limit: components["schemas"]["Limit"];
            /** @description The amount reserved for running turns. */
            set_aside: components["schemas"]["Usage"];
            /** @description The cost by step, the most expensive first, without steps that cost nothing. */
            steps: components["schemas"]["Spent"][];
            /** @description The total. */
            total: components["schemas"]["Usage"];
        };
        /** @description A finding as data, for `--json` and for editors. */
        Diagnostic: {
            /** @description The code of the rule. */
            code: string;
            /**
             * Format: uint
             * @description The column, from 1, in characters.
             */
            column: number;
            /**
             * Format: uint
             * @description The column where the place ends.
             */
            end_column: number;
            /**
             * Format: uint
             * @description The line where the place ends.
             */
            end_line: number;
            /** @description The name of the file. */
            file: string;
            /** @description How to fix it. */
            help?: string | null;
            /** @description A few words at the place. */
            label?: string;
            /**
             * Format: uint
             * @description The line, from 1.
             */
            line: number;
            /** @description The problem. */
            message: string;
            /** @description The severity. */
            severity: components["schemas"]["Severity"];
        };
        /** @description An arrow. */
        Edge: {
            /** @description The key of the node it starts at. */
            from: string;
            /** @description The kind of the arrow. */
            kind: components["schemas"]["EdgeKind"];
            /** @description The condition, or the reason. */
            label?: string | null;
            /** @description The key of the node it points to. */
            to: string;
        };
        /** @description The kind of an arrow. */
        EdgeKind: "dependency" | "next" | "rewind" | "goto";
        /** @description An event with its place in the history. Other fields depend on the kind of event. */
        Envelope: {
            /** Format: int64 */
            at: number;
            event: string;
            /** Format: uint64 */
            seq: number;
            /** Format: uint32 */
            v: number;
        };
        /** @description The class of a failure, as far as retries need it. */
        ErrorClass: "transient" | "rate_limit" | "timeout" | "invalid" | "lost" | "empty" | "overload" | "usage_limit" | "overflow" | "auth" | "billing" | "unknown_model" | "refused" | "question" | "hung" | "killed" | "failed" | "any";
        /** @description A page of events. */
        Events: {
            events: components["schemas"]["Envelope"][];
            /** Format: uint64 */
            next?: number | null;
        };
        /** @description Why something does not continue. */
        Explanation: {
            /** @description The step; `None` if it is about the run. */
            path?: components["schemas"]["StepPath"] | null;
            /** @description The reason, in words. */
            text: string;
        };
        /** @description Where somebody comes from. */
        Face: "cli" | "mcp" | "dashboard" | "api" | "trigger";
        /** @description Why work failed. */
        Failure: {
            /** @description As far as a retry cares. */
            class: components["schemas"]["ErrorClass"];
            /** @description In words. */
            message: string;
            /** @description Whether the step itself is wrong, or not set up: nothing was done, no default stands in for it, and a person is asked. */
            needs_person?: boolean;
            /**
             * Format: uint64
             * @description When trying again makes sense, in milliseconds from now.
             */
            retry_after_ms?: number | null;
        };
        /** @description What follows for a step. */
        Fate: "kept" | "again" | "runs" | "decides" | "dropped" | "asks" | "nothing";
        /** @description A command that was applied before. */
        First: {
            /**
             * Format: int64
             * @description Milliseconds since 1970, UTC.
             */
            at: number;
            by?: string | null;
            /** @description The outcome: `approved`, `denied`, `cancelled`, … */
            what: string;
        };
        /** @description Where a run departs from the run that it is forked from. */
        Fork: {
            /**
             * @description The first step that runs again. Without it, the first step of the run.
             * @default null
             */
            from: string | null;
            /** @default {} */
            inputs: {
                [key: string]: unknown;
            };
        };
        /** @description The places in a run where a text was found. */
        Found: {
            /** @description Machines with files of the run that are not here. */
            elsewhere?: string[];
            found: components["schemas"]["FoundPlace"][];
            /** @description Whether there is more that was not searched or not returned. */
            more: boolean;
        };
        /** @description A place where a text was found. */
        FoundPlace: {
            /** @description The text after the place. */
            after: string;
            /** Format: uint32 */
            attempt: number;
            /** @description The text before the place. */
            before: string;
            /**
             * @description The file: `transcript`, `stdout` or `stderr`.
             * @enum {string}
             */
            in: "transcript" | "stdout" | "stderr";
            /**
             * Format: uint64
             * @description The number of the transcript entry, or of the line; from 0.
             */
            number: number;
            path: components["schemas"]["StepPath"];
            /** @description The text itself, as it is written there. */
            text: string;
        };
        /** @description A plan as nodes and edges. */
        Graph: {
            /** @description The purpose of the workflow. */
            description?: string | null;
            /** @description Arrows, sorted by their start. */
            edges: components["schemas"]["Edge"][];
            /** @description Steps, branches and sub-workflows. */
            nodes: components["schemas"]["GraphNode"][];
            /** @description The name of the workflow. */
            title: string;
        };
        /** @description A step, a branch of a choice, or a sub-workflow. */
        GraphNode: {
            /** @description The action, in at most 60 columns. */
            detail?: string | null;
            /** @description Whether it asks a person. */
            gate: boolean;
            /** @description Whether it contains other nodes. */
            group: boolean;
            /** @description The id of the step, or the case of the branch. */
            id: string;
            /** @description The key, unique in the drawing. */
            key: string;
            /** @description The action key of the step, `decision`, `branch` or `unit`. */
            kind: string;
            /** @description Whether the run continues if it fails. */
            optional: boolean;
            /**
             * Format: uint32
             * @description How many of its items run at once, if more than one.
             */
            parallel?: number | null;
            /** @description The key of the group that contains it. */
            parent?: string | null;
            /** @description Whether it may be skipped, see `when`. */
            skippable: boolean;
            /** @description Whether a state machine starts here. */
            start: boolean;
            /**
             * Format: uint32
             * @description The index of the step in the plan; `None` for branches and sub-workflows.
             */
            step?: number | null;
            /** @description The name that people see. */
            title: string;
            /** @description The condition under which it runs. */
            when?: string | null;
        };
        /** @description The answer of a health check. */
        Health: {
            ok: boolean;
        };
        /** @description A step that is held or waits. */
        HeldTask: {
            /**
             * Format: uint32
             * @description The number of the attempt.
             */
            attempt: number;
            /** @description The address of the step. */
            path: string;
            /** @description The id of the run. */
            run: string;
            /** @description The name of the workflow. */
            workflow: string;
        };
        /** @description Whether the caller may answer. */
        Here: {
            ok: boolean;
            /** @description Whether the caller may answer in the owner's place. */
            override?: boolean;
            why?: string | null;
        };
        /** @description A value that a workflow is started with. */
        Input: {
            /** @description The value to use if none is given. Without a default the input is required unless `optional`. */
            default?: unknown;
            /** @description The description shown to people. */
            description?: string | null;
            /** @description Whether it may be left out without a default. */
            optional?: boolean;
            /** @description The JSON Schema of its values. */
            schema: unknown;
        };
        /** @description The places of everything in a drawing. */
        Layout: {
            /** @description The arrows, in the order of [`Graph::edges`]. */
            edges: components["schemas"]["Routed"][];
            /**
             * Format: double
             * @description The height of the whole picture.
             */
            height: number;
            /** @description The nodes, in the order of [`Graph::nodes`]. */
            nodes: components["schemas"]["Placed"][];
            /**
             * Format: double
             * @description The width of the whole picture.
             */
            width: number;
        };
        /** @description The limits on spending; without a number there is no limit. */
        Limit: {
            /**
             * Format: uint64
             * @description Tokens, read and written.
             */
            tokens?: number | null;
            /**
             * Format: double
             * @description Money, in US dollars.
             */
            usd?: number | null;
        };
        /** @description A run that was created. */
        Made: {
            run: string;
        };
        /** @description An amount of tokens and money. */
        Meter: {
            /**
             * Format: uint64
             * @description The part of those that came from a cache.
             * @default 0
             */
            cached_tokens: number;
            /**
             * Format: uint64
             * @description Tokens read, including cached ones.
             * @default 0
             */
            input_tokens: number;
            /**
             * Format: uint64
             * @description Tokens written.
             * @default 0
             */
            output_tokens: number;
            /**
             * Format: double
             * @description Money, if the agent reports it.
             */
            usd?: number | null;
        };
        /** @description No arguments. */
        Nothing: Record<string, never>;
        /** @description A step that waits for a worker. */
        OpenTask: {
            /**
             * Format: uint32
             * @description The number of the attempt.
             */
            attempt: number;
            /** @description The machine that has the files of the run, if the step needs them. */
            host?: string | null;
            /** @description The labels that a worker needs. */
            labels: string[];
            /** @description Whether none of the workers that are there can do it. */
            nobody: boolean;
            /** @description The address of the step. */
            path: string;
            /** @description The id of the run. */
            run: string;
            /** @description The reason for waiting, in words. */
            text: string;
            /** @description The name of the workflow. */
            workflow: string;
        };
        /** @description Who started a run, or speaks to one. */
        Origin: {
            /** @description The program that speaks for them. */
            client?: string | null;
            /** @description Where they come from. */
            face: components["schemas"]["Face"];
            /** @description The runs whose steps started the process that speaks, and those that started them; [`SOME_RUN`] if that is not known. */
            inside?: string[];
            /** @description The session of that program. */
            session?: string | null;
            /** @description The user of the machine, or of the dashboard. */
            user?: string | null;
        };
        /** @description The whole output of a step. */
        Output: {
            output: unknown;
            path: string;
        };
        /**
         * @description The drawing and the places of its parts, for a client that draws by itself.
         *
         *     The lists of the layout are parallel to those of the graph.
         */
        Picture: {
            /** @description The content. */
            graph: components["schemas"]["Graph"];
            /** @description The places. */
            layout: components["schemas"]["Layout"];
        };
        /** @description The place of a workflow. */
        Place: {
            file: string;
            origin: string;
        };
        /** @description A node and its place. */
        Placed: {
            /**
             * Format: double
             * @description The height.
             */
            height: number;
            /** @description The key of the node. */
            key: string;
            /**
             * Format: double
             * @description The width.
             */
            width: number;
            /**
             * Format: double
             * @description The left side.
             */
            x: number;
            /**
             * Format: double
             * @description The upper side.
             */
            y: number;
        };
        /** @description A point. */
        Point: {
            /**
             * Format: double
             * @description The distance to the right.
             */
            x: number;
            /**
             * Format: double
             * @description The distance down.
             */
            y: number;
        };
        /** @description A part of the output of an attempt. */
        Printed: {
            more: boolean;
            /** Format: uint64 */
            next: number;
            text: string;
        };
        /** @description Why a request failed, and what to do next. */
        Problem: {
            /** @description The code of the problem: `LH…`. */
            code: string;
            /** @description What to do next. */
            detail?: string | null;
            /** @description Findings about the workflow or its inputs. */
            diagnostics?: components["schemas"]["Diagnostic"][];
            /** @description The places of the given value that do not fit. */
            fields?: components["schemas"]["Violation"][];
            /** @description The command that was applied first, if there was one. */
            first?: components["schemas"]["First"] | null;
            /** @description The kind of rejection, if a command was rejected. */
            kind?: string | null;
            /** Format: uint16 */
            status: number;
            /** @description The problem, as a sentence. */
            title: string;
            /** @description The page of the manual, or `about:blank`. */
            type: string;
        };
        /** @description The number of steps by status. Only reached steps count: the length of a list may be unknown. */
        Progress: {
            /**
             * Format: uint64
             * @description Steps that were cancelled.
             */
            cancelled: number;
            /**
             * Format: uint64
             * @description Steps that failed.
             */
            failed: number;
            /**
             * Format: uint64
             * @description Steps that are ready, but have no permit yet.
             */
            pending: number;
            /**
             * Format: uint64
             * @description Steps that are running.
             */
            running: number;
            /**
             * Format: uint64
             * @description Steps that were skipped.
             */
            skipped: number;
            /**
             * Format: uint64
             * @description Steps that succeeded.
             */
            succeeded: number;
            /**
             * Format: uint64
             * @description Steps that wait for a time, a signal or a person.
             */
            waiting: number;
        };
        /** @description An open question. */
        Question: {
            /** @description Who may answer, if the step says so. */
            approvals?: components["schemas"]["ApprovalRule"] | null;
            /** @description The approvals so far, if several are needed. */
            approved?: components["schemas"]["Approval"][];
            /**
             * Format: int64
             * @description The time of the question.
             */
            asked_at: number;
            /** @description Possible answers besides yes and no. */
            choices?: string[];
            /**
             * Format: int64
             * @description The time at which the question times out.
             */
            due?: number | null;
            /** @description The failure that the question is about. */
            error?: components["schemas"]["Failure"] | null;
            here: components["schemas"]["Here"];
            /** @description The kind of the question. */
            kind: components["schemas"]["QuestionKind"];
            /** @description The name that people see instead of the step's id. */
            name?: string | null;
            /**
             * Format: uint
             * @description The number of approvals needed, if more than one.
             */
            needed?: number | null;
            /** @description The output to review. */
            output?: unknown;
            /** @description The step that asks. */
            path: components["schemas"]["StepPath"];
            run: components["schemas"]["RunId"];
            /** @description The JSON Schema of a free answer, or of the replaced output. */
            schema?: unknown;
            /** @description The hash of the question. An answer can name it, to prove which question it answers. */
            shown: string;
            task: string;
            /** @description The text of the question. */
            text: string;
            workflow: string;
        };
        /** @description What a person is asked for. */
        QuestionKind: "approval" | "question" | "review" | "operator" | "consent" | "machine";
        /** @description All open questions. */
        Questions: {
            questions: components["schemas"]["Question"][];
            /** @description Runs that may have questions, but cannot be read. */
            unreadable?: components["schemas"]["Unreadable"][];
        };
        /** @description A changed workflow for a run: a text, or the name of a workflow. */
        Replan: {
            /**
             * @description Steps that run again, changed or not.
             * @default []
             */
            again: string[];
            /**
             * @description The hash of the comparison that the person was shown. Needed unless `preview` is true.
             * @default null
             */
            expect: string | null;
            /**
             * @description Inputs that differ from those of the run.
             * @default {}
             */
            inputs: {
                [key: string]: unknown;
            };
            /**
             * @description Steps that keep their results, changed or not.
             * @default []
             */
            keep: string[];
            /**
             * @description Only compare.
             * @default false
             */
            preview: boolean;
            /**
             * @description The new text. To apply it, the caller must be an admin: a text can run any command.
             * @default null
             */
            text: string | null;
            /**
             * @description The name of a workflow.
             * @default null
             */
            workflow: string | null;
        };
        /** @description What a changed workflow means for a run, and what came of it. */
        Replanned: {
            comparison: components["schemas"]["Comparison"];
            /** @description What was done; nothing for a preview. */
            outcome?: components["schemas"]["CommandOutcome"] | null;
        };
        /** @description Starts a run again. */
        Retry: {
            /**
             * @description The first step to run again. Without it, the steps that failed.
             * @default null
             */
            from: string | null;
        };
        /** @description The rights of a caller. Each role includes the rights of the ones before it. */
        Role: "viewer" | "operator" | "admin";
        /** @description The workers of a store, and the steps that they hold. */
        Roster: {
            /**
             * Format: int64
             * @description The time of the list, by the clock of the workers.
             */
            now: number;
            /** @description Steps of processes that are not workers, such as `longhaul run`. */
            others: components["schemas"]["HeldTask"][];
            /** @description Steps that wait for a worker. Steps that no worker can do come first. */
            waiting: components["schemas"]["OpenTask"][];
            /** @description All workers, sorted by name. This includes silent workers, except those that another worker has replaced. */
            workers: components["schemas"]["Worker"][];
        };
        /** @description An arrow and its line; no points if an end is not in the drawing. */
        Routed: {
            /** @description The key of the node it starts at. */
            from: string;
            /** @description The rectangle of its label. */
            label?: components["schemas"]["Area"] | null;
            /** @description The line, from the outline of the first node to that of the second. */
            points: components["schemas"]["Point"][];
            /** @description The key of the node it points to. */
            to: string;
        };
        /** @description A run with all data for its page. */
        Run: {
            cost: components["schemas"]["Cost"];
            critical_path: components["schemas"]["StepPath"][];
            /** @description Steps with an open attempt. */
            current?: components["schemas"]["StepPath"][];
            /**
             * Format: int64
             * @description The duration so far, or in total.
             */
            duration_ms: number;
            /**
             * Format: int64
             * @description The time at which it ended.
             */
            ended_at?: number | null;
            forked?: [
                string,
                components["schemas"]["StepPath"]
            ] | null;
            inputs: {
                [key: string]: unknown;
            };
            /** @description Limits that were reached. */
            limits_reached?: string[];
            /** @description The reason of its outcome. */
            message?: string | null;
            /** @description Its outputs. */
            outputs?: {
                [key: string]: unknown;
            };
            /** @description The user or program that started it. Questions go there. */
            owner?: components["schemas"]["Origin"] | null;
            parent?: string | null;
            picture: components["schemas"]["Picture"];
            /** @description The number of steps by status. */
            progress: components["schemas"]["Progress"];
            questions: components["schemas"]["Question"][];
            run: components["schemas"]["RunId"];
            /**
             * Format: uint64
             * @description The last event that this includes.
             */
            seq: number;
            /** @description Where it stands: running, stopped, waiting for a person or a time, without an engine, or over. */
            standing: components["schemas"]["Standing"];
            /**
             * Format: int64
             * @description The time of the start.
             */
            started_at: number;
            /**
             * @description The status, in one word.
             * @enum {string}
             */
            status: "queued" | "running" | "waiting" | "paused" | "stopped" | "succeeded" | "failed" | "cancelled";
            steps: components["schemas"]["StepView"][];
            /** @description The text it was started with. */
            task: string;
            timeline: components["schemas"]["TimelineSpan"][];
            /** @description Its tokens and cost so far. */
            usage: components["schemas"]["Usage"];
            /** @description The things that it waits for, each once. */
            waiting_for?: ("approval" | "question" | "operator" | "machine" | "client" | "worker" | "event" | "timer")[];
            /** @description Why it does not continue. */
            why?: components["schemas"]["Explanation"][];
            /** @description The name of its workflow. */
            workflow: string;
        };
        /** @description The id of a run: lower-case letters, digits and single dashes between them, 4 to 40 characters. */
        RunId: string;
        /** @description A run in a list. */
        RunRow: {
            /** @description The caller who started it. */
            owner?: components["schemas"]["Origin"] | null;
            /** @description The run that started it. */
            parent?: string | null;
            /** @description The id of the run. */
            run: string;
            /** @description Where it stands: running, stopped, waiting for a person or a time, without an engine, or over. */
            standing: components["schemas"]["Standing"];
            /** @description The status in one word. */
            status: string;
            /** @description Other facts in short. */
            summary: components["schemas"]["Summary"];
            /**
             * Format: int64
             * @description The time of the last event, in milliseconds since 1970.
             */
            updated_at: number;
            /** @description The name of the workflow. */
            workflow: string;
        };
        /** @description A page of runs. */
        Runs: {
            /** @description The value of `before` for the next page. */
            next?: string | null;
            runs: components["schemas"]["RunRow"][];
        };
        /** @description The possible answers. */
        Said: ("approve" | "skip") | {
            deny: {
                reason?: string | null;
            };
        } | {
            edit: {
                value: unknown;
            };
        } | {
            value: {
                value: unknown;
            };
        };
        /** @description The severity of a finding. */
        Severity: "error" | "warning" | "note";
        /** @description Sends a signal. */
        Signal: {
            /** @default null */
            data: unknown;
            name: string;
        };
        /** @description Why a step is left out. */
        Skip: "when" | "run_if" | "route" | "denied" | "upstream" | "cancelled";
        /** @description The text that a run holds. */
        Source: {
            /** @description The dialect, if it is not our own. */
            dialect?: string | null;
            /** @description Whether it was edited for this run alone. */
            edited: boolean;
            /** @description The file that it comes from, if there is one. */
            file?: string | null;
            /** @description Whether the file would make another plan now. */
            file_changed: boolean;
            /** @description The text. */
            text: string;
        };
        /** @description The kind of a span. */
        Spanned: {
            /** Format: uint32 */
            attempt: number;
        } | {
            /** Format: uint32 */
            pause: number;
        } | "question" | "wait";
        /** @description The cost of one step, over all attempts. */
        Spent: {
            /** @description The address of the step. */
            path: components["schemas"]["StepPath"];
            /** @description The tokens and cost. */
            usage: components["schemas"]["Usage"];
        };
        /** @description Where a run stands. */
        Standing: {
            /** @description The person who stopped it. */
            by?: string | null;
            /** @description The command to type next. */
            command?: string | null;
            /**
             * @description In a word.
             * @enum {string}
             */
            is: "queued" | "running" | "needs_you" | "waiting" | "paused" | "stopped" | "no_engine" | "succeeded" | "failed" | "cancelled";
            /**
             * Format: int64
             * @description Since when it is stopped, or asks: milliseconds since 1970, UTC.
             */
            since?: number | null;
            /** @description The step that asks, or that waits. */
            step?: string | null;
            /** @description In a line: the question, the reason, the steps that are running. */
            text?: string;
            /**
             * Format: int64
             * @description The time at which it continues by itself.
             */
            until?: number | null;
        };
        /** @description The values that a run starts with. */
        Start: {
            /** @default {} */
            inputs: {
                [key: string]: unknown;
            };
            /** @default  */
            task: string;
            /** @description The name of a workflow in the list. */
            workflow: string;
        };
        /** @description How a step differs. */
        StepChange: "same" | "changed" | "adjusted" | "new" | "gone" | "renamed" | "unclear";
        /** @description The address of one instance of a step. */
        StepPath: string;
        /** @description A step, and the steps inside it. */
        StepView: {
            /** @description The agent that is running on it. */
            agent?: components["schemas"]["AtWork"] | null;
            /**
             * Format: uint32
             * @description The number of started attempts.
             */
            attempts: number;
            /** @description Whether the output is the declared default and not a result. */
            defaulted?: boolean;
            /** @description Tools that its agent called and may not use. */
            denied?: string[];
            /**
             * Format: int64
             * @description The duration since it was reached, so far or in total.
             */
            duration_ms: number;
            /**
             * Format: int64
             * @description The time at which it ended.
             */
            ended_at?: number | null;
            /** @description The failure, if it failed. */
            error?: components["schemas"]["Failure"] | null;
            /** @description What people told its agent. */
            hints?: components["schemas"]["ToldHint"][];
            /** @description The item of the `for_each` that the step belongs to, as people recognise it: a file, a title. */
            item?: string | null;
            /**
             * Format: uint
             * @description The number of items of a `for_each`, once it is known.
             */
            items?: number | null;
            /** @description The word that a workflow file uses: `run`, `for_each`, … */
            kind: string;
            /** @description The name that people see instead of the id. */
            name?: string | null;
            /** @description Its output; a long one is cut. */
            output?: unknown;
            /** @description The address of the step. */
            path: components["schemas"]["StepPath"];
            /** @description Whether a later visit replaced it. */
            replaced?: boolean;
            /** @description How its agent continues after a failure, in words. */
            rung?: string | null;
            /** @description Why it was skipped. */
            skipped?: components["schemas"]["Skip"] | null;
            /**
             * Format: int64
             * @description The time of its last attempt, or of its question.
             */
            started_at?: number | null;
            /**
             * @description The status, in one word.
             * @enum {string}
             */
            status: "pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped" | "cancelled";
            /** @description The steps inside it, one item or round after the other. */
            steps?: components["schemas"]["StepView"][];
            /** @description Its tokens and cost. */
            usage: components["schemas"]["Usage"];
            /**
             * @description The thing that it waits for, in one word.
             * @enum {string|null}
             */
            waiting_for?: "approval" | "question" | "operator" | "machine" | "client" | "worker" | "event" | "timer" | null;
        };
        /** @description The line of a run in a list. */
        Summary: {
            /**
             * Format: uint64
             * @description The number of steps that succeeded.
             */
            done: number;
            /**
             * Format: int64
             * @description The time at which it ended.
             */
            ended_at?: number | null;
            /** @description The reason of its outcome. */
            message?: string | null;
            /**
             * Format: int64
             * @description The time of the start.
             */
            started_at: number;
            /** @description The start of the text it was started with. */
            task: string;
            /**
             * Format: double
             * @description Its cost so far, in US dollars.
             */
            usd: number;
            /** @description The things that it waits for, each once. */
            waiting_for?: string[];
            /** @description The first sentence of why it does not continue, if no step is running. */
            waits?: string | null;
        };
        /** @description How the last 100 runs with a name ended. */
        Tally: {
            /** Format: uint64 */
            cancelled: number;
            /** Format: uint64 */
            failed: number;
            last?: components["schemas"]["RunRow"] | null;
            /** Format: uint64 */
            open: number;
            /** Format: uint64 */
            succeeded: number;
        };
        /** @description Tells the agent of a step something. */
        Tell: {
            /** @description The step: its path, or its id if only one such step is open. */
            step: string;
            /** @description The text for the agent. */
            text: string;
        };
        /** @description A span of time. */
        TimelineSpan: {
            /** @description How it ended, in one word. */
            end?: string | null;
            /**
             * Format: int64
             * @description The start.
             */
            from: number;
            /** @description For an attempt: the machine that made it, if several machines share a store. */
            host?: string | null;
            /** @description The address of the step. */
            path: components["schemas"]["StepPath"];
            /**
             * Format: int64
             * @description The end; `None` while it continues.
             */
            to?: number | null;
            /** @description The kind of the span. */
            what: components["schemas"]["Spanned"];
            /** @description For an attempt: the worker that claimed it. */
            worker?: string | null;
        };
        /** @description Something that a person told the agent of a step. */
        ToldHint: {
            /**
             * Format: int64
             * @description When they said it.
             */
            at: number;
            /** @description Who said it. */
            by?: string | null;
            /** @description Whether a turn of the agent has it. */
            heard: boolean;
            /** @description What they said. */
            text: string;
        };
        /** @description How many runs match, how they ended, and what they cost. */
        Totals: {
            /** Format: uint64 */
            runs: number;
            /** @description The number of runs with each status. */
            statuses: {
                [key: string]: number;
            };
            /**
             * Format: uint64
             * @description Tokens, read and written.
             */
            tokens: number;
            /**
             * Format: double
             * @description Their cost so far, in US dollars.
             */
            usd: number;
        };
        /** @description A part of a transcript. */
        Transcript: {
            entries: components["schemas"]["TranscriptEntry"][];
            more: boolean;
            /** Format: uint64 */
            next: number;
        };
        /** @description One entry of a transcript: the same shape for every agent, stored and shown unchanged. */
        TranscriptEntry: {
            /** @description The id of the session. */
            id: string;
            /** @description The model, as the agent names it. */
            model?: string | null;
            /** @constant */
            type: "session";
        } | {
            /** @description Whether the text continues the previous one. */
            delta?: boolean;
            /** @description The text. */
            text: string;
            /** @constant */
            type: "text";
        } | {
            /** @description The text. */
            text: string;
            /** @constant */
            type: "thinking";
        } | {
            /** @description The id of the call. */
            id: string;
            /** @description The input. */
            input?: unknown;
            /** @description The name of the tool. */
            name: string;
            /** @description The input, summarised in one line. */
            summary: string;
            /** @constant */
            type: "tool_call";
        } | {
            /** @description The id of the call. */
            id: string;
            /** @description Whether the call succeeded. */
            ok: boolean;
            /** @description The text of the result. */
            text?: string;
            /** @constant */
            type: "tool_result";
        } | {
            /** @description The name of the tool. */
            name: string;
            /** @constant */
            type: "denied";
        } | {
            /** @description The message. */
            text: string;
            /** @constant */
            type: "notice";
        } | {
            /** @description The amounts. */
            meter: components["schemas"]["Meter"];
            /** @constant */
            type: "usage";
        } | {
            /** @description All running tasks; empty if none is left. */
            tasks: string[];
            /** @constant */
            type: "background";
        } | {
            /** @constant */
            type: "goes_on";
        } | {
            /** @constant */
            type: "alive";
        } | {
            /** @constant */
            type: "result";
        };
        /** @description A run that cannot be read. */
        Unreadable: {
            run: components["schemas"]["RunId"];
            /** @description Why the run cannot be read. */
            why: string;
        };
        /** @description What work cost. */
        Usage: {
            /** @description Whether something ended before it told all that it used: it is at least this much. */
            at_least?: boolean;
            /**
             * Format: uint64
             * @description Of the tokens read, those from a cache.
             */
            cached_tokens?: number;
            /**
             * Format: uint64
             * @description Tokens read.
             * @default 0
             */
            input_tokens: number;
            /**
             * Format: uint64
             * @description Tokens written.
             * @default 0
             */
            output_tokens: number;
            /**
             * Format: double
             * @description Money.
             * @default 0
             */
            usd: number;
            /** @description Whether some of the money is not known, and `usd` only the rest. */
            usd_unknown?: boolean;
        };
        /** @description A place of a value that violates a schema. */
        Violation: {
            /** @description The place, as a JSON pointer. It is empty for the whole value. */
            at: string;
            /** @description What is wrong there, as a sentence. */
            message: string;
        };
        /** @description A worker. */
        Worker: {
            /**
             * Format: uint32
             * @description How many steps it holds.
             */
            busy: number;
            /** @description The steps that it holds. */
            holds: components["schemas"]["HeldTask"][];
            /** @description The machine of the worker; empty if machines do not share the store. */
            host: string;
            /** @description The id of the worker's process. */
            id: string;
            /** @description Its labels. */
            labels: string[];
            /** @description Its login, if it only takes and reports steps. */
            login?: string | null;
            /** @description The name of the worker for people. */
            name: string;
            /**
             * Format: int64
             * @description When it last reported.
             */
            seen: number;
            /** @description Whether its last report is too long ago. */
            silent: boolean;
            /**
             * Format: int64
             * @description When it started.
             */
            since: number;
            /**
             * Format: uint32
             * @description The most steps that it takes at once.
             */
            slots: number;
            /** @description The version of its program. */
            version: string;
        };
        /** @description A workflow with all data for its page. */
        Workflow: {
            description: string;
            diagnostics: components["schemas"]["Diagnostic"][];
            dialect: string;
            file: string;
            hides: components["schemas"]["Place"][];
            inputs: {
                [key: string]: components["schemas"]["Input"];
            };
            last_runs: components["schemas"]["RunRow"][];
            limits: {
                [key: string]: unknown;
            };
            name: string;
            ok: boolean;
            origin: string;
            outputs: string[];
            picture?: components["schemas"]["Picture"] | null;
            runs: components["schemas"]["Tally"];
            source: string;
            /**
             * Format: uint
             * @description How many steps it has; null if it has errors.
             */
            steps: number | null;
            /** @description The name inside the file, if it is another one. Runs have this name. */
            title?: string | null;
        };
        /** @description A workflow in a list. */
        WorkflowRow: {
            description: string;
            file: string;
            hides: components["schemas"]["Place"][];
            name: string;
            ok: boolean;
            origin: string;
            runs: components["schemas"]["Tally"];
            /**
             * Format: uint
             * @description How many steps it has; null if it has errors.
             */
            steps: number | null;
            /** @description The name inside the file, if it is another one. Runs have this name. */
            title?: string | null;
        };
        /** @description All workflows, by name. */
        Workflows: {
            workflows: components["schemas"]["WorkflowRow"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
