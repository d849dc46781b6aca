//! Workflows as people write them, of any size.

/// How the steps are ordered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Graph,
    Sequence,
    Machine,
}

/// A native workflow: prompts, commands, schemas, containers, and templates that read earlier outputs.
pub(crate) fn native(size: usize, order: Order) -> String {
    let mut text = "name: bench\ndescription: A workflow of the usual kinds of steps\ninputs:\n  goal: string\n  count: {type: integer, default: 3}\n".to_owned();
    text.push_str(match order {
        Order::Graph => "steps:\n",
        Order::Sequence => "do:\n",
        Order::Machine => "start: s0\nnodes:\n",
    });
    for at in 0..size {
        text.push_str(&format!("  - id: s{at}\n"));
        text.push_str(&action(at, order));
        text.push_str(&way_on(at, size, order));
    }
    text
}

/// What step `at` does; it reads steps that are sure to come before it.
fn action(at: usize, order: Order) -> String {
    let earlier = at.checked_sub(1).map(|before| before - before % 5);
    let read = earlier.map_or_else(|| "{{ goal }}".to_owned(), |before| format!("{{{{ r{before}.summary }}}}"));
    match at % 5 {
        0 => format!(
            "    prompt: |\n      Look at the project for {{{{ goal }}}}, part {at}.\n      Known so far: {read}\n      Give a summary and a score.\n    timeout: 20m\n    retry: 2\n    output:\n      as: r{at}\n      schema: {{summary: string, score: integer, files: [string]}}\n"
        ),
        1 => format!("    run: cargo test --package part-{at} -- {read}\n    timeout: 5m\n    output: o{at}\n"),
        2 => format!(
            "    prompt: \"Improve {read} with {{{{ steps.s{}.output }}}}\"\n    when: r{}.score < 80\n",
            at - 1,
            at - 2
        ),
        3 if order == Order::Machine => format!("    set: {{n{at}: '{{{{ r{}.score + 1 }}}}'}}\n", at - 3),
        3 => format!(
            "    for_each: r{}.files\n    as: file\n    do:\n      - run: fmt {{{{ file }}}}\n      - prompt: Check {{{{ file }}}} for {{{{ goal }}}}\n",
            at - 3
        ),
        _ => format!("    run: |\n      echo {{{{ inputs.goal }}}} > log\n      echo \"{read}\" >> log\n"),
    }
}

fn way_on(at: usize, size: usize, order: Order) -> String {
    match order {
        Order::Sequence => String::new(),
        Order::Machine if at + 1 == size => "    next: end\n  - {id: end, end: success}\n".to_owned(),
        Order::Machine if at % 5 == 2 => {
            format!("    next: [{{when: r{}.score > 90, to: s{}}}, {{to: s{}}}]\n", at - 2, at + 1, at - 2)
        }
        Order::Machine => format!("    next: s{}\n", at + 1),
        Order::Graph => match at {
            0 => String::new(),
            _ => {
                let part = at - at % 5;
                let mut names =
                    vec![format!("s{}", at - 1), format!("s{}", part.saturating_sub(5)), format!("s{part}")];
                names.retain(|name| *name != format!("s{at}"));
                names.dedup();
                format!("    depends_on: [{}]\n", names.join(", "))
            }
        },
    }
}

/// The same kind of workflow as agent007 writes it.
pub(crate) fn agent007(size: usize) -> String {
    let mut text = "name: bench\nsteps:\n".to_owned();
    for at in 0..size {
        text.push_str(&format!("  - id: s{at}\n    agent: Coder\n    output: o{at}\n"));
        match at {
            0 => text.push_str("    prompt: 'Build {{ task }}'\n"),
            _ => text.push_str(&format!(
                "    depends_on: [s{}]\n    inputs: [o{}]\n    prompt: 'Continue with {{{{ o{} }}}} for {{{{ task }}}}'\n",
                at - 1,
                at - 1,
                at - 1
            )),
        }
    }
    text
}

/// The same kind of workflow as workhorse writes it.
pub(crate) fn workhorse(size: usize) -> String {
    let mut text = "name: bench\nvars:\n  rounds: 0\nstart: s0\nnodes:\n".to_owned();
    for at in 0..size {
        text.push_str(&format!(
            "  - id: s{at}\n    type: agent\n    prompt: 'Do part {at} of round {{{{ rounds }}}}'\n    outputs:\n      - key: k{at}\n    next: s{}\n",
            at + 1
        ));
    }
    text.push_str(&format!("  - id: s{size}\n    type: terminal\n"));
    text
}
