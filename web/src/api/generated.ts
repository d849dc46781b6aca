// Made from the OpenAPI document by types/make.mjs; not to be edited.

export interface components {
    schemas: {
        /** @description What a server is. */
        About: {
            /** @description Whether this server does the work of runs or only shows them. */
            drives: boolean;
            /**
             * Format: int64
             * @description Its clock.
             */
            now: number;
            /** @description The folder whose workflows are shown. */
            project: string;
            /** @description What the one who asks may do. */
            role?: components["schemas"]["Role"] | null;
            store: string;
            user?: string | null;
            version: string;
        };
        /** @description An answer. */
        Answering: {
            answer: components["schemas"]["Said"];
            /** @default null */
            comment: string | null;
            /**
             * @description In the owner's place.
             * @default false
             */
            override: boolean;
            /** @description The step that asks. */
            path: string;
            /**
             * @description The hash of what was shown.
             * @default null
             */
            shown: string | null;
        };
        /** @description Who may answer. */
        Approvers: string;
        /** @description A rectangle, from its upper left corner. */
        Area: {
            /**
             * Format: double
             * @description Down.
             */
            height: number;
            /**
             * Format: double
             * @description To the right.
             */
            width: number;
            /**
             * Format: double
             * @description Of the left side.
             */
            x: number;
            /**
             * Format: double
             * @description Of the upper side.
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
            /** @description Machines on which steps of the run left files that are not here. */
            elsewhere?: string[];
        };
        /** @description An attempt, and what can be asked for about it. */
        Attempt: {
            /** @description Who made it, where an agent did. */
            agent?: string | null;
            /**
             * Format: uint32
             * @description From 1.
             */
            attempt: number;
            /** @description Whether the result is one of an earlier run. */
            cached?: boolean;
            /**
             * Format: int64
             * @description When it was over.
             */
            ended_at?: number | null;
            /** @description Why it failed. */
            error?: components["schemas"]["Failure"] | null;
            /**
             * Format: int32
             * @description Of a command.
             */
            exit_code?: number | null;
            /** @description What can be asked for: `transcript`, `stdout`, `stderr`. */
            has: string[];
            /** @description The machine that made it, where several share a store. */
            host?: string | null;
            /** @description What it left. */
            output?: unknown;
            /** @description What the agent was told. */
            prompt?: string | null;
            /** @description In which way its agent continued after the attempt before had failed, in words. */
            rung?: string | null;
            /** @description In which conversation. */
            session?: string | null;
            /**
             * Format: int64
             * @description When it began, or began to wait.
             */
            started_at: number;
            /**
             * @description `waiting` for a worker, `running`, `succeeded`, `failed` or `stopped`.
             * @enum {string}
             */
            status: "waiting" | "running" | "succeeded" | "failed" | "stopped";
            /** @description What it cost. */
            usage?: components["schemas"]["Usage"] | null;
            /** @description The worker that took it. */
            worker?: string | null;
        };
        /** @description The attempts of a step, oldest first. */
        Attempts: {
            attempts: components["schemas"]["Attempt"][];
            path: components["schemas"]["StepPath"];
        };
        /** @description An agent at work. */
        AtWork: {
            /** @description Who. */
            name: string;
            /** @description Its conversation, once that has a name. */
            session?: string | null;
            /**
             * Format: int64
             * @description Since when.
             */
            since: number;
        };
        /** @description Stop. */
        Cancel: {
            /** @default null */
            reason: string | null;
        };
        /** @description What is to be checked: a text, or a workflow of the list. */
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
        /** @description What was found. */
        Checked: {
            diagnostics: components["schemas"]["Diagnostic"][];
            ok: boolean;
            picture?: components["schemas"]["Picture"] | null;
        };
        /** @description What a run cost. */
        Cost: {
            /** @description By who did the work: the persona or agent that a step names, or the agent that took its place. */
            agents: {
                [key: string]: components["schemas"]["Usage"];
            };
            /** @description What was set aside for turns whose cost nobody ever told. */
            assumed: components["schemas"]["Usage"];
            /** @description How much may be spent. */
            limit: components["schemas"]["Limit"];
            /** @description What is set aside for turns that are under way. */
            set_aside: components["schemas"]["Usage"];
            /** @description By step, the most expensive first; those that cost nothing are left out. */
            steps: components["schemas"]["Spent"][];
            /** @description In all. */
            total: components["schemas"]["Usage"];
        };
        /** @description A finding as data: what `--json` prints and what editors get. */
        Diagnostic: {
            /** @description Which rule. */
            code: string;
            /**
             * Format: uint
             * @description From 1, in characters.
             */
            column: number;
            /**
             * Format: uint
             * @description Where the place ends.
             */
            end_column: number;
            /**
             * Format: uint
             * @description Where the place ends.
             */
            end_line: number;
            /** @description The file. */
            file: string;
            /** @description What to do. */
            help?: string | null;
            /** @description A few words at the place itself. */
            label?: string;
            /**
             * Format: uint
             * @description From 1.
             */
            line: number;
            /** @description What is wrong. */
            message: string;
            /** @description How bad. */
            severity: components["schemas"]["Severity"];
        };
        /** @description A step that somebody has to do. */
        Duty: {
            /**
             * Format: uint32
             * @description Which attempt.
             */
            attempt: number;
            /** @description Which step. */
            path: string;
            /** @description Of which run. */
            run: string;
            /** @description Of which workflow. */
            workflow: string;
        };
        /** @description An arrow. */
        Edge: {
            /** @description The key of the node it starts at. */
            from: string;
            /** @description What it means. */
            kind: components["schemas"]["EdgeKind"];
            /** @description What must hold, or why it is taken. */
            label?: string | null;
            /** @description The key of the node it points to. */
            to: string;
        };
        /** @description What an arrow means. */
        EdgeKind: "dependency" | "next" | "rewind" | "goto";
        /** @description One entry of a transcript: the same shape for every agent, stored and shown as it is. */
        Entry: {
            /** @description The id. */
            id: string;
            /** @description The model, as the agent names it. */
            model?: string | null;
            /** @constant */
            type: "session";
        } | {
            /** @description Whether it continues the text before. */
            delta?: boolean;
            /** @description What. */
            text: string;
            /** @constant */
            type: "text";
        } | {
            /** @description What. */
            text: string;
            /** @constant */
            type: "thinking";
        } | {
            /** @description Which call. */
            id: string;
            /** @description With what. */
            input?: unknown;
            /** @description Which tool. */
            name: string;
            /** @description With what, in a line. */
            summary: string;
            /** @constant */
            type: "tool_call";
        } | {
            /** @description Which call. */
            id: string;
            /** @description Whether it went well. */
            ok: boolean;
            /** @description What it said. */
            text?: string;
            /** @constant */
            type: "tool_result";
        } | {
            /** @description Which. */
            name: string;
            /** @constant */
            type: "denied";
        } | {
            /** @description What it says. */
            text: string;
            /** @constant */
            type: "notice";
        } | {
            /** @description How much. */
            meter: components["schemas"]["Meter"];
            /** @constant */
            type: "usage";
        } | {
            /** @description All of it; none if it is over. */
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
        /** @description An event with its place in the history; what else it has depends on what happened. */
        Envelope: {
            /** Format: int64 */
            at: number;
            event: string;
            /** Format: uint64 */
            seq: number;
            /** Format: uint32 */
            v: number;
        };
        /** @description Why work failed, as far as a retry cares. */
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
            /** @description In words. */
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
        /** @description Where a run departs from another one. */
        Fork: {
            /**
             * @description The first step that is done again; the first of all, if nothing is said.
             * @default null
             */
            from: string | null;
            /** @default {} */
            inputs: {
                [key: string]: unknown;
            };
        };
        /** @description A plan as nodes and edges. */
        Graph: {
            /** @description What it is for. */
            description?: string | null;
            /** @description Arrows, by where they start. */
            edges: components["schemas"]["Edge"][];
            /** @description Steps, branches and sub-workflows. */
            nodes: components["schemas"]["Node"][];
            /** @description The name of the workflow. */
            title: string;
        };
        /** @description That it is well. */
        Health: {
            ok: boolean;
        };
        /** @description Whether the one who looks may answer. */
        Here: {
            ok: boolean;
            /** @description Whether they may if they do it in the owner's place. */
            override?: boolean;
            why?: string | null;
        };
        /** @description A value that a workflow is started with. */
        Input: {
            /** @description Used when nothing is given; without one the input is required unless `optional`. */
            default?: unknown;
            /** @description For people. */
            description?: string | null;
            /** @description Whether it may be left out without a default. */
            optional?: boolean;
            /** @description A JSON Schema. */
            schema: unknown;
        };
        /** @description The places of everything in a drawing. */
        Layout: {
            /** @description As in [`Graph::edges`]. */
            edges: components["schemas"]["Routed"][];
            /**
             * Format: double
             * @description Of the whole picture.
             */
            height: number;
            /** @description As in [`Graph::nodes`]. */
            nodes: components["schemas"]["Placed"][];
            /**
             * Format: double
             * @description Of the whole picture.
             */
            width: number;
        };
        /** @description How much may be spent; without a number, as much as it takes. */
        Limit: {
            /**
             * Format: uint64
             * @description Tokens, read and written.
             */
            tokens?: number | null;
            /**
             * Format: double
             * @description Money.
             */
            usd?: number | null;
        };
        /** @description A run that was made. */
        Made: {
            run: string;
        };
        /** @description What was used. */
        Meter: {
            /**
             * Format: uint64
             * @description Of those, from a cache.
             * @default 0
             */
            cached_tokens: number;
            /**
             * Format: uint64
             * @description Tokens read, cached ones too.
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
             * @description Money, where the agent says.
             */
            usd?: number | null;
        };
        /** @description A step, a branch of a choice, or a sub-workflow. */
        Node: {
            /** @description What it does, in at most 60 columns. */
            detail?: string | null;
            /** @description Whether a person is asked. */
            gate: boolean;
            /** @description Whether other nodes stand in it. */
            group: boolean;
            /** @description The id of the step, or what the branch is for. */
            id: string;
            /** @description Unique in the drawing. */
            key: string;
            /** @description The action key of the step, `decision`, `branch` or `unit`. */
            kind: string;
            /** @description Whether the run survives its failure. */
            optional: boolean;
            /**
             * Format: uint32
             * @description How many of its items run at once, if more than one.
             */
            parallel?: number | null;
            /** @description The key of the group it stands in. */
            parent?: string | null;
            /** @description Whether it may be skipped, see `when`. */
            skippable: boolean;
            /** @description Whether a state machine starts here. */
            start: boolean;
            /**
             * Format: uint32
             * @description The step's place in the plan; `None` for branches and sub-workflows.
             */
            step?: number | null;
            /** @description What people call it. */
            title: string;
            /** @description What must hold for it not to be skipped. */
            when?: string | null;
        };
        /** @description Something that was noted about a run. */
        Note: {
            /** Format: int64 */
            at: number;
            path?: string | null;
            run: string;
            text: string;
            word: string;
            workflow: string;
        };
        /** @description Nothing more to say. */
        Nothing: Record<string, never>;
        /** @description A step that waits for a worker. */
        OpenDuty: {
            /**
             * Format: uint32
             * @description Which attempt.
             */
            attempt: number;
            /** @description The machine it must be on, because the files of the run are there. */
            host?: string | null;
            /** @description What a worker must be able to do. */
            labels: string[];
            /** @description Whether no worker that is there can do it. */
            nobody: boolean;
            /** @description Which step. */
            path: string;
            /** @description Of which run. */
            run: string;
            /** @description In words. */
            text: string;
            /** @description Of which workflow. */
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
        /** @description What a step left, whole. */
        Output: {
            output: unknown;
            path: string;
        };
        /** @description What evaluations and routing noted. */
        Persisted: {
            gate_decisions: components["schemas"]["Note"][];
            recommendations: components["schemas"]["Note"][];
            transitions: components["schemas"]["Note"][];
        };
        /**
         * @description The drawing and the places of its parts, for a client that paints by itself.
         *
         *     The lists of the layout run parallel to those of the graph.
         */
        Picture: {
            /** @description What there is. */
            graph: components["schemas"]["Graph"];
            /** @description Where it goes. */
            layout: components["schemas"]["Layout"];
        };
        /** @description Where a workflow is. */
        Place: {
            file: string;
            origin: string;
        };
        /** @description A node and its place. */
        Placed: {
            /**
             * Format: double
             * @description Down.
             */
            height: number;
            /** @description Of the node. */
            key: string;
            /**
             * Format: double
             * @description To the right.
             */
            width: number;
            /**
             * Format: double
             * @description Of the left side.
             */
            x: number;
            /**
             * Format: double
             * @description Of the upper side.
             */
            y: number;
        };
        /** @description A place. */
        Point: {
            /**
             * Format: double
             * @description To the right.
             */
            x: number;
            /**
             * Format: double
             * @description Down.
             */
            y: number;
        };
        /** @description What an attempt printed, from a byte on. */
        Printed: {
            more: boolean;
            /** Format: uint64 */
            next: number;
            text: string;
        };
        /** @description Why a request came to nothing, and what to do next. */
        Problem: {
            /** @description `LH…`. */
            code: string;
            /** @description What to do next. */
            detail?: string | null;
            /** @description Where a workflow or its inputs are at fault. */
            diagnostics?: components["schemas"]["Diagnostic"][];
            /** Format: uint16 */
            status: number;
            /** @description What happened, a sentence. */
            title: string;
            /** @description The page of the manual, or `about:blank`. */
            type: string;
        };
        /** @description How many steps stand where. Only what was reached can be counted: nobody knows how long a list will be. */
        Progress: {
            /**
             * Format: uint64
             * @description Stopped, or given up.
             */
            cancelled: number;
            /**
             * Format: uint64
             * @description Ended badly.
             */
            failed: number;
            /**
             * Format: uint64
             * @description Ready, but without a slot.
             */
            pending: number;
            /**
             * Format: uint64
             * @description At work.
             */
            running: number;
            /**
             * Format: uint64
             * @description Left out.
             */
            skipped: number;
            /**
             * Format: uint64
             * @description Ended well.
             */
            succeeded: number;
            /**
             * Format: uint64
             * @description Waiting for a time, a signal or a person.
             */
            waiting: number;
        };
        /** @description An open question. */
        Question: {
            /** @description Who may answer, where the step says so. */
            approvals?: components["schemas"]["Approvers"] | null;
            /**
             * Format: int64
             * @description When it was asked.
             */
            asked_at: number;
            /** @description What they may answer beside yes and no. */
            choices?: string[];
            /**
             * Format: int64
             * @description When silence becomes an answer.
             */
            due?: number | null;
            /** @description The failure that it is about. */
            error?: components["schemas"]["Failure"] | null;
            here: components["schemas"]["Here"];
            /** @description What for. */
            kind: components["schemas"]["QuestionKind"];
            /** @description What people see instead of its id. */
            name?: string | null;
            /** @description What is shown for review. */
            output?: unknown;
            /** @description The step that asks. */
            path: components["schemas"]["StepPath"];
            run: components["schemas"]["RunId"];
            /** @description What a free answer looks like, or what an output is replaced with. */
            schema?: unknown;
            /** @description The hash of all that: whoever answers can say by it what they were shown. */
            shown: string;
            task: string;
            /** @description What they read. */
            text: string;
            workflow: string;
        };
        /** @description What a person is asked for. */
        QuestionKind: "approval" | "question" | "review" | "operator" | "consent" | "machine";
        /** @description Every open question. */
        Questions: {
            questions: components["schemas"]["Question"][];
            /** @description Runs that may ask something, and cannot be read. */
            unreadable?: components["schemas"]["Unreadable"][];
        };
        /** @description Start again. */
        Retry: {
            /**
             * @description From which step; whatever failed, if nothing is said.
             * @default null
             */
            from: string | null;
        };
        /** @description What somebody may do. Each may do what those before it may. */
        Role: "viewer" | "operator" | "admin";
        /** @description Who works for a store, and on what. */
        Roster: {
            /**
             * Format: int64
             * @description By the clock that workers are seen by.
             */
            now: number;
            /** @description What is held by somebody who is no worker, such as `longhaul run`. */
            others: components["schemas"]["Duty"][];
            /** @description What nobody has taken yet, what nobody can take first. */
            waiting: components["schemas"]["OpenDuty"][];
            /** @description In the order of their names, whether they are still there or not; without those that another one stands in for. */
            workers: components["schemas"]["Worker"][];
        };
        /** @description An arrow and its way; no points if the drawing does not have its ends. */
        Routed: {
            /** @description The key of the node it starts at. */
            from: string;
            /** @description Where its label stands. */
            label?: components["schemas"]["Area"] | null;
            /** @description From the outline of the first node to that of the second. */
            points: components["schemas"]["Point"][];
            /** @description The key of the node it points to. */
            to: string;
        };
        /** @description A run, and what a page needs to show it. */
        Run: {
            cost: components["schemas"]["Cost"];
            critical_path: components["schemas"]["StepPath"][];
            /** @description Steps with an open attempt. */
            current?: components["schemas"]["StepPath"][];
            /**
             * Format: int64
             * @description How long it took, or has taken.
             */
            duration_ms: number;
            /**
             * Format: int64
             * @description When it was over.
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
            /** @description Why it ended as it did. */
            message?: string | null;
            /** @description What it returned. */
            outputs?: {
                [key: string]: unknown;
            };
            /** @description Who started it, and so who is asked. */
            owner?: components["schemas"]["Origin"] | null;
            parent?: string | null;
            picture: components["schemas"]["Picture"];
            /** @description How far it is. */
            progress: components["schemas"]["Progress"];
            questions: components["schemas"]["Question"][];
            run: components["schemas"]["RunId"];
            /**
             * Format: uint64
             * @description Everything here is as of this event.
             */
            seq: number;
            /**
             * Format: int64
             * @description When it was started.
             */
            started_at: number;
            /**
             * @description In a word.
             * @enum {string}
             */
            status: "queued" | "running" | "waiting" | "paused" | "succeeded" | "failed" | "cancelled";
            steps: components["schemas"]["Step"][];
            /** @description The text it was started with. */
            task: string;
            timeline: components["schemas"]["Span"][];
            /** @description What it has cost. */
            usage: components["schemas"]["Usage"];
            /** @description What it waits for, each once: `approval`, `question`, `timer`, `event`, `host`, `operator`. */
            waiting_for?: string[];
            /** @description Why it does not continue. */
            why?: components["schemas"]["Explanation"][];
            /** @description What lists call its workflow. */
            workflow: string;
        };
        /** @description The id of a run: lower-case letters, digits and single dashes between them, 4 to 40 characters. */
        RunId: string;
        /** @description A run in a list. */
        RunRow: {
            /** @description Who started it. */
            owner?: components["schemas"]["Origin"] | null;
            /** @description The run that started it. */
            parent?: string | null;
            /** @description Its id. */
            run: string;
            /** @description In a word. */
            status: string;
            /** @description The rest in a line. */
            summary: components["schemas"]["Summary"];
            /**
             * Format: int64
             * @description When something happened last.
             */
            updated_at: number;
            /** @description Of which workflow. */
            workflow: string;
        };
        /** @description A page of runs. */
        Runs: {
            /** @description The `before` of the next page. */
            next?: string | null;
            runs: components["schemas"]["RunRow"][];
        };
        /** @description What can be said. */
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
        /** @description How bad it is. */
        Severity: "error" | "warning" | "note";
        /** @description A signal. */
        Signal: {
            /** @default null */
            data: unknown;
            name: string;
        };
        /** @description Why a step is left out. */
        Skip: "when" | "run_if" | "route" | "denied" | "upstream" | "cancelled";
        /** @description Something that took time. */
        Span: {
            /** @description How it ended, in a word. */
            end?: string | null;
            /**
             * Format: int64
             * @description From when.
             */
            from: number;
            /** @description Of an attempt: the machine that made it, where several share a store. */
            host?: string | null;
            /** @description Which step. */
            path: components["schemas"]["StepPath"];
            /**
             * Format: int64
             * @description Until when; `None` while it lasts.
             */
            to?: number | null;
            /** @description What took the time. */
            what: components["schemas"]["Spanned"];
            /** @description Of an attempt that a worker took: which one. */
            worker?: string | null;
        };
        /** @description What takes time. */
        Spanned: {
            /** Format: uint32 */
            attempt: number;
        } | {
            /** Format: uint32 */
            pause: number;
        } | "question" | "wait";
        /** @description What one step cost, all attempts together. */
        Spent: {
            /** @description Which. */
            path: components["schemas"]["StepPath"];
            /** @description How much. */
            usage: components["schemas"]["Usage"];
        };
        /** @description What a run is started with. */
        Start: {
            /** @default {} */
            inputs: {
                [key: string]: unknown;
            };
            /** @default  */
            task: string;
            /** @description A name from the list. */
            workflow: string;
        };
        /** @description A step, and what is inside it. */
        Step: {
            /** @description The agent that is running on it. */
            agent?: components["schemas"]["AtWork"] | null;
            /**
             * Format: uint32
             * @description Attempts begun.
             */
            attempts: number;
            /** @description Whether the output is the declared default and not a result. */
            defaulted?: boolean;
            /**
             * Format: int64
             * @description How long it took, or has taken, since it was reached.
             */
            duration_ms: number;
            /**
             * Format: int64
             * @description When it was over.
             */
            ended_at?: number | null;
            /** @description Why it failed. */
            error?: components["schemas"]["Failure"] | null;
            /**
             * Format: uint
             * @description Of a step for each item of a list: how many there are, once that is known.
             */
            items?: number | null;
            /** @description The word that a workflow file uses: `run`, `for_each`, … */
            kind: string;
            /** @description What people see instead of the id. */
            name?: string | null;
            /** @description What it left; a long one is cut. */
            output?: unknown;
            /** @description Its address. */
            path: components["schemas"]["StepPath"];
            /** @description Whether a later visit stands in its place. */
            replaced?: boolean;
            /** @description In which way its agent continues after something failed, in words. */
            rung?: string | null;
            /** @description Why it was left out. */
            skipped?: components["schemas"]["Skip"] | null;
            /**
             * Format: int64
             * @description When its last attempt began, or its question was asked.
             */
            started_at?: number | null;
            /**
             * @description In a word.
             * @enum {string}
             */
            status: "pending" | "running" | "waiting" | "succeeded" | "failed" | "skipped" | "cancelled";
            /** @description What is inside it, one item or round after the other. */
            steps?: components["schemas"]["Step"][];
            /** @description What it cost. */
            usage: components["schemas"]["Usage"];
            /** @description What it waits for, in a word. */
            waiting_for?: string | null;
        };
        /** @description The address of one instance of a step. */
        StepPath: string;
        /** @description What a list says of a run. */
        Summary: {
            /**
             * Format: uint64
             * @description Steps that ended well.
             */
            done: number;
            /**
             * Format: int64
             * @description When it was over.
             */
            ended_at?: number | null;
            /** @description Why it ended as it did. */
            message?: string | null;
            /**
             * Format: int64
             * @description When it was started.
             */
            started_at: number;
            /** @description The beginning of the text it was started with. */
            task: string;
            /**
             * Format: double
             * @description What it has cost.
             */
            usd: number;
            /** @description What it waits for, each once. */
            waiting_for?: string[];
            /** @description The first sentence of why it does not continue, while nothing of it is running. */
            waits?: string | null;
        };
        /** @description Of the last 100 runs of a name. */
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
        /** @description It is stored; what comes of it arrives as events. */
        Told: {
            run: string;
            told: boolean;
        };
        /** @description Entries of a transcript, from a number on. */
        Transcript: {
            entries: components["schemas"]["Entry"][];
            more: boolean;
            /** Format: uint64 */
            next: number;
        };
        /** @description A run that cannot be read. */
        Unreadable: {
            run: components["schemas"]["RunId"];
            /** @description In words. */
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
        /** @description A worker. */
        Worker: {
            /**
             * Format: uint32
             * @description How many it holds.
             */
            busy: number;
            /** @description What it holds. */
            holds: components["schemas"]["Duty"][];
            /** @description The machine it is on; empty where no other shares the store. */
            host: string;
            /** @description One life of one process. */
            id: string;
            /** @description What it can do. */
            labels: string[];
            /** @description The login it has, if it can do its work and nothing else. */
            login?: string | null;
            /** @description What people call it. */
            name: string;
            /**
             * Format: int64
             * @description When it last said so.
             */
            seen: number;
            /** @description Whether that is too long ago. */
            silent: boolean;
            /**
             * Format: int64
             * @description Since when it is there.
             */
            since: number;
            /**
             * Format: uint32
             * @description How many steps it takes at once.
             */
            slots: number;
            /** @description Its program. */
            version: string;
        };
        /** @description A workflow with everything that a page shows of it. */
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
             * @description Nothing if it has errors.
             */
            steps: number | null;
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
             * @description Nothing if it has errors.
             */
            steps: number | null;
        };
        /** @description Every workflow, by name. */
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
