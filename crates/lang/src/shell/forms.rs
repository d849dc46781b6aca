//! Tests every form in which a value can come near to being code.
//!
//! Real shells then run the accepted forms, with values that would leave a trace.

use std::path::Path;
use std::process::{Command, Stdio};

use super::tests::lowered;

/// The verdict on a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Refused,
    Warned,
    Fine,
}

use Verdict::{Fine, Refused, Warned};

/// The verdict on a text.
fn verdict(text: &str) -> Verdict {
    let found = lowered(text).findings;
    match found.iter().any(|finding| finding.is_certain) {
        true => Refused,
        false if found.is_empty() => Fine,
        false => Warned,
    }
}

/// Forms that run a value, or may run it.
const DANGEROUS: &[(Verdict, &[&str])] = &[
    (
        Refused,
        &[
            // The value is the command itself.
            "{{ x }}",
            "{{ x }} a",
            "{{ x }}=1",
            "\"{{ x }}\" a",
            "./bin/{{ x }}",
            "exec {{ x }}",
            "command {{ x }}",
            "builtin {{ x }}",
            "time {{ x }}",
            "! {{ x }}",
            "env {{ x }}",
            "env A=1 {{ x }}",
            "sudo {{ x }}",
            "nohup {{ x }}",
            "nice {{ x }}",
            "timeout 5 {{ x }}",
            "setsid {{ x }}",
            "stdbuf -o0 {{ x }}",
            "chroot / {{ x }}",
            "flock lock {{ x }}",
            "strace {{ x }}",
            "busybox {{ x }}",
            "xargs {{ x }}",
            "echo a | xargs -n 1 {{ x }}",
            "find . -exec {{ x }} \\;",
            "find . -execdir {{ x }} {} +",
            "find . -ok {{ x }} \\;",
            "git {{ x }}",
            "git bisect run {{ x }}",
            "c={{ x }}; $c",
            "$(dirname {{ x }})/tool",
            "c={{ x }}; \"$c\" a",
            "c=({{ x }}); \"${c[@]}\"",
            // Text for a shell.
            "eval {{ x }}",
            "eval \"a {{ x }}\"",
            "c={{ x }}; eval \"$c\"",
            "eval \"$(echo {{ x }})\"",
            "sh -c {{ x }}",
            "bash -lc \"{{ x }}\"",
            "bash -c 'echo {{ x }}'",
            "c={{ x }}; bash -c \"$c\"",
            "s=bash; $s -c {{ x }}",
            "s='bash -c'; $s {{ x }}",
            "s=bash; \"$s\" -c {{ x }}",
            "bash -c 'eval \"$1\"' _ {{ x }}",
            "bash -c '$1' _ {{ x }}",
            "timeout 5 bash -c {{ x }}",
            "nice bash -c {{ x }}",
            "nohup sh -c {{ x }}",
            "sudo bash -c {{ x }}",
            "env bash -c {{ x }}",
            "env -S {{ x }}",
            "env --split-string={{ x }}",
            "su -c {{ x }}",
            "su me -c {{ x }}",
            "runuser -u me -c {{ x }}",
            "flock lock -c {{ x }}",
            "flock -c {{ x }} lock",
            "script -c {{ x }}",
            "script -qc {{ x }} /dev/null",
            "watch {{ x }}",
            "parallel {{ x }}",
            "ssh host {{ x }}",
            "ssh host \"cd {{ x }}\"",
            "docker exec c sh -c {{ x }}",
            "find . -exec sh -c {{ x }} \\;",
            "echo {{ x }} | xargs -I{} sh -c 'echo {}'",
            "echo {{ x }} | xargs sh -c",
            "echo {{ x }} | xargs bash",
            "trap {{ x }} EXIT",
            "trap 'rm {{ x }}' EXIT",
            "alias a={{ x }}",
            "mapfile -C {{ x }} -c 1 a",
            "readarray -C {{ x }} a",
            "complete -C {{ x }} a",
            "complete -W {{ x }} a",
            "compgen -W {{ x }}",
            "bind -x {{ x }}",
            "f() { eval \"$1\"; }; f {{ x }}",
            "function f { $1; }; f {{ x }}",
            "set -- {{ x }}; eval \"$1\"",
            "for c in {{ x }}; do eval \"$c\"; done",
            "read -r c <<< {{ x }}; eval \"$c\"",
            "echo {{ x }} | while read -r c; do eval \"$c\"; done",
            "while read -r c; do $c; done <<< {{ x }}",
            "while read -r c; do $c; done <<EOF\n{{ x }}\nEOF",
            "printf -v c %s {{ x }}; eval \"$c\"",
            "a={{ x }}; echo \"${a@P}\"",
            // Text for other languages.
            "python3 -c {{ x }}",
            "python3 -c \"print('{{ x }}')\"",
            "python3.12 -c {{ x }}",
            "perl -e {{ x }}",
            "perl -ne 'print if /{{ x }}/' f",
            "ruby -e {{ x }}",
            "node -e {{ x }}",
            "node --eval={{ x }}",
            "php -r {{ x }}",
            "lua -e {{ x }}",
            "osascript -e {{ x }}",
            "Rscript -e {{ x }}",
            "deno eval {{ x }}",
            "sed {{ x }} f",
            "sed \"s/a/{{ x }}/\" f",
            "sed -e \"s/a/{{ x }}/\" f",
            "sed -i 's/a/{{ x }}/' f",
            "sed -n --expression={{ x }} f",
            "awk {{ x }} f",
            "awk \"/{{ x }}/ { print }\" f",
            "awk '{ print \"{{ x }}\" }' f",
            "gawk -e {{ x }} f",
            "vim -c {{ x }} f",
            "vim +{{ x }} f",
            "emacs --eval {{ x }}",
            "gdb -ex {{ x }} p",
            "psql -c {{ x }}",
            "mysql -e {{ x }}",
            "sqlite3 db {{ x }}",
            "make {{ x }}",
            "make all A={{ x }}",
            "make --eval={{ x }}",
            "gnuplot -e {{ x }}",
            "socat - {{ x }}",
            // Input that is a program.
            "echo {{ x }} | sh",
            "echo {{ x }} | tee f | bash",
            "(echo {{ x }}) | bash",
            "{ echo {{ x }}; } | bash",
            "for i in a; do echo {{ x }}; done | bash",
            "echo {{ x }} | sudo bash",
            "echo {{ x }} | bash -s a",
            "echo {{ x }} | (bash)",
            "echo {{ x }} | { bash; }",
            "echo {{ x }} | tee >(bash)",
            "echo {{ x }} | ssh host",
            "echo {{ x }} | ssh host bash",
            "echo {{ x }} | dc",
            "echo {{ x }} | at now",
            "echo {{ x }} | crontab -",
            "echo {{ x }} | psql db",
            "bash <<< {{ x }}",
            "bash <<EOF\n{{ x }}\nEOF",
            "cat <<EOF | bash\n{{ x }}\nEOF",
            "cat <<EOF |\n{{ x }}\nEOF\nbash",
            "python3 - <<EOF\n{{ x }}\nEOF",
            "python3 - a <<EOF\n{{ x }}\nEOF",
            "ssh host bash -s <<EOF\n{{ x }}\nEOF",
            "sudo bash <<EOF\n$(echo {{ x }})\nEOF",
            "source /dev/stdin <<< {{ x }}",
            "source <(echo {{ x }})",
            "bash <(echo {{ x }})",
            // A file that is executed.
            "source {{ x }}",
            ". ./{{ x }}",
            "bash {{ x }}",
            "bash scripts/{{ x }}.sh",
            "python3 {{ x }}",
            "python3 -m {{ x }}",
            "node {{ x }}",
            "perl {{ x }}",
            "awk -f {{ x }} f",
            "sed -f {{ x }} f",
            "make -f {{ x }}",
            "java -jar {{ x }}",
            "enable -f {{ x }} a",
            "hash -p {{ x }} a",
            // Arithmetic.
            "echo $(( {{ x }} + 1 ))",
            "(( {{ x }} > 1 ))",
            "let a={{ x }}",
            "let \"a = {{ x }}\"",
            "a[{{ x }}]=1",
            "a=([{{ x }}]=1)",
            "[[ {{ x }} -eq 1 ]]",
            "[[ 1 -lt {{ x }} ]]",
            "declare -i a={{ x }}",
            "typeset -i a={{ x }}",
            "f() { local -i a={{ x }}; }",
            "readonly -i a={{ x }}",
            "for ((i = 0; i < {{ x }}; i++)); do :; done",
            "echo ${a[{{ x }}]}",
            "echo ${a:{{ x }}}",
            // Names of variables.
            "[[ -v {{ x }} ]]",
            "[ -v {{ x }} ]",
            "test -v {{ x }}",
            "test {{ x }} {{ y }}",
            "printf -v {{ x }} a",
            "read {{ x }}",
            "read -ra {{ x }}",
            "mapfile {{ x }}",
            "unset {{ x }}",
            "unset \"a[{{ x }}]\"",
            "getopts a {{ x }}",
            "wait -n -p {{ x }}",
            "export {{ x }}",
            "declare {{ x }}",
            "declare \"{{ x }}=1\"",
            "readonly {{ x }}=1",
            "declare -n a={{ x }}",
            "for {{ x }} in a; do :; done",
            // Variables that other programs execute.
            "BASH_ENV={{ x }} bash a.sh",
            "export BASH_ENV={{ x }}",
            "ENV={{ x }}",
            "PS4={{ x }}",
            "PROMPT_COMMAND={{ x }}",
            "LD_PRELOAD={{ x }} a",
            "env LD_PRELOAD={{ x }} a",
            "sudo LD_PRELOAD={{ x }} a",
            "GIT_SSH_COMMAND=\"ssh -i {{ x }}\" git fetch",
            "EDITOR={{ x }} git commit",
            "PAGER={{ x }} git log",
            "NODE_OPTIONS={{ x }} node a.js",
            "PERL5OPT={{ x }} perl a.pl",
            "MAKEFLAGS={{ x }} make",
            // Options and settings that are executed.
            "git -c {{ x }} status",
            "git -c core.pager={{ x }} log",
            "git -c alias.a={{ x }} a",
            "git --config-env={{ x }} status",
            "git --exec-path={{ x }} status",
            "git config core.sshCommand {{ x }}",
            "git config {{ x }} a",
            "git rebase --exec {{ x }} main",
            "git rebase -x {{ x }}",
            "git submodule foreach {{ x }}",
            "git filter-branch --tree-filter {{ x }}",
            "git fetch --upload-pack={{ x }} origin",
            "git grep -O{{ x }} a",
            "tar -cf a.tar --checkpoint=1 --checkpoint-action=exec={{ x }} .",
            "tar --to-command={{ x }} -xf a.tar",
            "tar -I {{ x }} -xf a.tar",
            "rsync -e {{ x }} a b",
            "rsync --rsh={{ x }} a b",
            "rsync -e \"ssh -i {{ x }}\" a b:",
            "ssh -o ProxyCommand={{ x }} host",
            "ssh -oProxyCommand={{ x }} host",
            "ssh -o {{ x }} host",
            "scp -S {{ x }} a b:",
            "sort --compress-program={{ x }} f",
            "split --filter={{ x }} f",
            "wget -e {{ x }} a",
            "nc -e {{ x }} host 1",
            "cargo --config {{ x }} build",
            "go test -exec {{ x }} ./...",
        ],
    ),
    (
        Warned,
        &[
            "a={{ x }}; [[ $a -eq 1 ]]",
            "a={{ x }}; [[ a -eq 1 ]]",
            "a={{ x }}; (( a > 1 ))",
            "a={{ x }}; (( $a > 1 ))",
            "a={{ x }}; b=$(( a + 1 ))",
            "a={{ x }}; let b=a+1",
            "a={{ x }}; declare -i b=a",
            "a={{ x }}; declare -i b=\"$a\"",
            "a=\"$(echo {{ x }})\"; (( a > 1 ))",
            "[[ $(echo {{ x }}) -eq 1 ]]",
            "a={{ x }}; echo ${b[a]}",
            "a={{ x }}; echo ${b[$a]}",
            "a={{ x }}; echo ${b:$a:1}",
            "a={{ x }}; echo ${!a}",
            "a={{ x }}; [[ -v $a ]]",
            "a={{ x }}; read \"$a\"",
            "a={{ x }}; unset \"$a\"",
            "read -r a <<< {{ x }}; (( a > 1 ))",
            "f() { (( $1 > 1 )); }; f {{ x }}",
            "printf {{ x }} {{ y }}",
            "$UNKNOWN -c {{ x }}",
            "\"$(command -v bash)\" -c {{ x }}",
            "$(mktemp -d {{ x }})/tool",
            "out=$(tool {{ x }}); eval \"$out\"",
            "tar xf a.tar {{ x }}",
            "tar -cf a.tar {{ x }}",
            "rsync {{ x }} b",
            "ssh {{ x }}",
            "scp {{ x }} host:",
            "git fetch {{ x }}",
            "git push origin {{ x }}",
            "git clone {{ x }}",
            "git grep {{ x }}",
            "git rebase {{ x }}",
            "sed -n 1p {{ x }}",
            "sed -i 's/a/b/' \"{{ x }}\"",
            "awk -f a.awk {{ x }}",
            "perl -ne 'print' {{ x }}",
            "wget {{ x }}",
            "vim {{ x }}",
            "split {{ x }}",
            "echo {{ x }} | xargs git fetch",
            "pip install {{ x }}",
            "npm install {{ x }}",
            "npx {{ x }}",
            "cargo install {{ x }}",
            "apt-get install -y {{ x }}",
            "PATH={{ x }}:$PATH a",
            "LD_LIBRARY_PATH={{ x }} a",
            "jq \".a == \\\"{{ x }}\\\"\" f",
            "psql {{ x }}",
            "flock {{ x }} a",
        ],
    ),
];

/// Accepted forms that a real shell can run here.
const RUN: &[&str] = &[
    "echo {{ x }}",
    "echo \"{{ x }}\" '{{ x }}' a{{ x }}b",
    "printf '%s\\n' {{ x }}",
    "printf {{ x }}",
    "cat <<EOF\n{{ x }} $(echo {{ x }}) `echo {{ x }}`\nEOF",
    "cat <<< {{ x }}",
    "a={{ x }}; echo $a \"$a\" \"${a}\" \"${a:-b}\" \"${a#b}\" \"${a//b/c}\"",
    "a={{ x }}; b=\"$a\"; c=$b; echo \"$c\"",
    "a=({{ x }} b); echo \"${a[@]}\" \"${a[0]}\"",
    "a+=({{ x }}); for i in \"${a[@]}\"; do echo \"$i\"; done",
    "declare -A m; m[k]={{ x }}; echo \"${m[k]}\"",
    "export A={{ x }}; sh -c 'echo \"$A\"'",
    "A={{ x }} sh -c 'echo \"$A\"'",
    "declare a={{ x }}; local_=1; echo \"$a\"",
    "f() { local a={{ x }}; echo \"$a\" \"$1\"; }; f {{ x }}",
    "set -- {{ x }} b; echo \"$1\" \"$@\" \"$*\"",
    "bash -c 'echo \"$1\"' _ {{ x }}",
    "sh -c 'for i; do echo \"$i\"; done' _ {{ x }} {{ x }}",
    "[ {{ x }} = a ]",
    "[ -n {{ x }} ]",
    "[ -f {{ x }} ]",
    "test -z {{ x }}",
    "test {{ x }}",
    "[ {{ x }} -eq 1 ]",
    "a={{ x }}; [ \"$a\" -eq 1 ]",
    "a={{ x }}; test \"$a\" -gt 1",
    "[[ {{ x }} == a* ]]",
    "[[ -n {{ x }} && {{ x }} != b ]]",
    "[[ a =~ {{ x }} ]]",
    "[[ -f {{ x }} ]]",
    "[[ {{ x }} < b ]]",
    "case {{ x }} in a*) echo a;; {{ x }}) echo b;; esac",
    "for i in {{ x }} b; do echo \"$i\"; done",
    "while read -r l; do echo \"$l\"; done <<< {{ x }}",
    "echo {{ x }} | while IFS= read -r l; do echo \"$l\"; done",
    "mapfile -t a <<< {{ x }}; echo \"${a[0]}\"",
    "read -r a b <<< {{ x }}; echo \"$a\" \"$b\"",
    "IFS=, read -ra parts <<< {{ x }}; echo \"${parts[@]}\"",
    "echo {{ x }} > out.txt",
    "echo a > out-{{ x | length }}.txt",
    "echo {{ x }} | cat | tr a b | head -n 1",
    "echo {{ x }} | xargs echo",
    "echo {{ x }} | grep bash",
    "grep -F -- {{ x }} /dev/null",
    "grep -e {{ x }} /dev/null",
    "cat -- {{ x }}",
    "cat {{ x }}",
    "ls -d -- {{ x }}",
    "wc -l < {{ x }}",
    "n=$(wc -l < {{ x }}); (( n > 1 ))",
    "(( $(wc -l < {{ x }}) > 1 ))",
    "find . -maxdepth 0 -name {{ x }}",
    "find . -maxdepth 0 -exec echo {{ x }} {} \\;",
    "find . -maxdepth 0 -exec sh -c 'echo \"$1\"' _ {{ x }} \\;",
    "awk '{ print }' {{ x }}",
    "awk -v v={{ x }} 'BEGIN { print v }'",
    "V={{ x }} awk 'BEGIN { print ENVIRON[\"V\"] }'",
    "sed -n 1p -- {{ x }}",
    "sed \"{{ x | length }}q\" /dev/null",
    "sed -n \"{{ 1 + 1 }}p\" /dev/null",
    "echo $(( {{ x | length }} + 1 ))",
    "[[ {{ x | length }} -gt 3 ]]",
    "a={{ x | length }}; (( a > 1 ))",
    "python3 -c 'import sys; print(sys.argv[1])' {{ x }}",
    "python3 - {{ x }} <<'EOF'\nimport sys\nprint(sys.argv[1])\nEOF",
    "python3 missing.py {{ x }}",
    "bash missing.sh {{ x }}",
    "bash -s -- {{ x }} <<'EOF'\necho \"$1\"\nEOF",
    "perl -e 'print \"@ARGV\"' -- {{ x }}",
    "env A={{ x }} sh -c 'echo \"$A\"'",
    "env -u {{ x }} true",
    "timeout 5 echo {{ x }}",
    "nice -n 1 echo {{ x }}",
    "flock lock echo {{ x }}",
    "git log -- {{ x }}",
    "git -c user.name={{ x }} log",
    "git config --file cfg user.name {{ x }}",
    "git rev-parse --verify -- {{ x }}",
    "git fetch -- {{ x }}",
    "tar -cf a.tar -- {{ x }}",
    "tar tf {{ x }}",
    "sort -- {{ x }}",
    "command -v {{ x }}",
    "type {{ x }}",
    "cd -- {{ x }}",
    "trap 'echo bye' EXIT; echo {{ x }}",
    "x={{ x }}; trap 'rm -f -- \"$x\"' EXIT",
    "diff <(echo {{ x }}) <(echo b)",
    "cat <(printf '%s' {{ x }})",
    "echo {{ x }} | tee >(cat > copy.txt)",
    "(echo {{ x }}; { echo {{ x }}; }) | cat",
    "if echo {{ x }} | grep -q a; then echo {{ x }}; else echo b; fi",
    "! echo {{ x }}",
    "echo \"${HOME:-none}\" {{ x }}",
    "echo \\{{ x }} \"\\{{ x }}\" ${{ x }} $'a{{ x }}'",
    "# {{ x }}\necho {{ x }} # {{ x }}",
    "bash {{ run.dir }}/missing.sh {{ x }}",
    "echo {{ x }} | python3 -c 'import sys; print(sys.stdin.read())'",
    "echo {{ x }} | bash -c 'cat'",
    "xargs -I{} echo {} <<< {{ x }}",
    "printf '%s\\0' {{ x }} | xargs -0 -n 1 echo",
    "readonly r={{ x }}; echo \"$r\"",
    "echo {{ x }} | sed 's/a/b/' | awk '{ print $1 }' | sort | uniq -c",
    "jq -n --arg v {{ x }} '$v'",
    "test -e {{ x }} || echo none",
    "echo \"$(cat {{ x }} || echo {{ x }})\"",
];

/// Accepted forms that need programs which are not here.
const LET_THROUGH: &[&str] = &[
    "docker run --name node -p {{ x }}:80 image",
    "ssh -i {{ x }} host",
    "ssh -p {{ x }} host ls",
    "ssh -- {{ x }} ls",
    "echo {{ x }} | ssh host 'cat > f'",
    "rsync -- {{ x }} b",
    "scp -- {{ x }} host:f",
    "make -C {{ x }} test",
    "make -j{{ x | length }}",
    "git commit -m {{ x }}",
    "git checkout -- {{ x }}",
    "git clone --branch {{ x }} -- url",
    "git push origin HEAD:refs/heads/{{ x }}",
    "cargo test {{ x }}",
    "cargo run -- {{ x }}",
    "go test -run {{ x }} ./...",
    "npm test -- {{ x }}",
    "npx eslint {{ x }}",
    "psql -v v={{ x }} -d {{ x }} -f a.sql",
    "kubectl get pod {{ x }}",
    "curl -fsS -- {{ x }}",
    "parallel echo ::: {{ x }}",
    "sudo -u {{ x }} id",
    "command -v {{ x }}",
];

#[test]
fn every_dangerous_form_is_refused_or_warned_about() {
    let wrong = DANGEROUS.iter().flat_map(|(expected, forms)| {
        let of = |form: &&str| {
            (verdict(form) != *expected).then(|| format!("{:?}, not {expected:?}: {form}", verdict(form)))
        };
        forms.iter().filter_map(of).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(DANGEROUS.iter().map(|(_, forms)| forms.len()).sum::<usize>() + RUN.len() >= 250);
}

#[test]
fn usual_forms_are_let_through() {
    let wrong = RUN.iter().chain(LET_THROUGH).filter(|form| verdict(form) != Fine);
    let wrong: Vec<String> = wrong.map(|form| format!("{:?}: {form}", verdict(form))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Values that each create a file if a shell, or a program that it starts, executes them.
fn hostile() -> Vec<String> {
    [
        "$(touch canary)`touch canary`",
        "; touch canary #",
        "\ntouch canary\n",
        "a[$(touch canary)]",
        "a[$(touch canary)]=1",
        "'\"; touch canary; \"'",
        "--checkpoint-action=exec=touch canary",
        "-Itouch canary",
        "-e1e touch canary",
        "1e touch canary",
        "BEGIN{system(\"touch canary\")}",
        "-esystem(\"touch canary\")",
        "__import__('os').system('touch canary')",
        "--upload-pack=touch canary",
        "-c",
        "a,b[$(touch canary)],c",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Runs a form with a value; returns whether the value left a trace.
#[expect(clippy::disallowed_methods, reason = "only a real shell can say what it makes of a script")]
fn leaves_a_trace(form: &str, value: &str, folder: &Path) -> bool {
    let result = lowered(form);
    let mut command = Command::new("bash");
    command.arg("-c").arg(&result.script).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    for (name, expression) in &result.bindings {
        let number = expression.contains("length") || expression.contains('+');
        command.env(name, if number { "7" } else { value });
    }
    let _ = command.status().unwrap();
    let trace = folder.join("canary");
    let is_there = trace.exists();
    let _ = std::fs::remove_file(trace);
    is_there
}

#[test]
fn real_shells_run_nothing_of_a_value_that_is_let_through() {
    let folder = tempfile::tempdir().unwrap();
    for form in RUN {
        for value in hostile() {
            assert!(!leaves_a_trace(form, &value, folder.path()), "{form:?} ran {value:?}");
        }
    }
}

#[test]
fn the_canary_sings() {
    let folder = tempfile::tempdir().unwrap();
    for form in
        ["eval {{ x }}", "a={{ x }}; [[ $a -eq 1 ]]", "[[ -v {{ x }} ]]", "sed {{ x }} /etc/passwd", "awk {{ x }}"]
    {
        assert!(hostile().iter().any(|value| leaves_a_trace(form, value, folder.path())), "{form:?} ran nothing");
    }
}
