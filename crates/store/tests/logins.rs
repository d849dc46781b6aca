//! A login does its own work and nothing else: everything else is tried, in SQL and through the store, and changes nothing.
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::id::RunId;
use longhaul_store::conformance::{advance, held, made, making, message, server, set, start, task, worker};
use longhaul_store::{
    Address, Append, Blob, Caps, Claim, Error, Login, NewLogin, NewTask, Place, Postgres, PostgresOptions, Query,
    Report, Scope, Store, Task, Worker, WorkerId,
};

const TABLES: [&str; 12] = [
    "run",
    "event",
    "task",
    "timer",
    "message",
    "posted",
    "blob",
    "blob_ref",
    "snapshot",
    "worker",
    "login",
    "schema_version",
];

/// A database with a run of which the login holds a task, and one of which it does not.
struct World {
    address: String,
    owner: Arc<dyn Store>,
    login: Arc<dyn Store>,
    role: String,
    own: WorkerId,
    ours: RunId,
    theirs: RunId,
    secret: Blob,
    plan: Blob,
}

async fn open(address: &str) -> Arc<dyn Store> {
    address.parse::<Place>().unwrap().open(Duration::from_secs(10)).await.unwrap()
}

async fn database(address: &str) -> (Address, Postgres) {
    let address: Address = address.parse().unwrap();
    let store = Postgres::open(&address, PostgresOptions::default()).await.unwrap();
    (address, store)
}

async fn admit(address: &str, name: &str, labels: Option<&[&str]>) -> String {
    let labels = labels.map(|labels| labels.iter().map(|label| (*label).to_owned()).collect());
    let (address, store) = database(address).await;
    let made = store.admit(&address, &NewLogin { name: name.to_owned(), labels, at_ms: 1 }).await.unwrap();
    assert_eq!(made.left_to_do, None);
    made.address
}

fn with_labels(key: &str, labels: &[&str]) -> NewTask {
    NewTask { labels: labels.iter().map(|label| (*label).to_owned()).collect(), ..task(key, 1) }
}

fn claim(worker: &WorkerId, labels: &[&str]) -> Claim {
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    let caps = Caps::default();
    Claim { worker: worker.clone(), labels, run: None, limit: 9, caps, now_ms: 1_000, lease_ms: 1_000 }
}

fn as_worker(id: &WorkerId) -> Worker {
    let text = || "x".to_owned();
    Worker {
        id: id.clone(),
        name: text(),
        host: text(),
        labels: Vec::new(),
        slots: 1,
        version: text(),
        since_ms: 1,
        seen_ms: 2,
    }
}

fn keys(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|task| task.key.as_str()).collect()
}

impl World {
    async fn make() -> Self {
        let address = server::shared().address();
        let owner = open(&address).await;
        let (ours, theirs) = (made(&owner, "ours").await, made(&owner, "theirs").await);
        let (secret, plan) = (Blob::new(vec![b'a'; 64]), Blob::new(vec![b'p'; 5000]));
        let other_plan = Blob::new(vec![b'q'; 5000]);
        advance(&owner, &ours, |append| append.blobs = vec![secret.clone(), plan.clone()]).await.unwrap();
        advance(&owner, &theirs, |append| append.blobs = vec![other_plan]).await.unwrap();
        start(&owner, &ours, with_labels("mine@1", &["gpu"])).await;
        start(&owner, &ours, held("other@1", 1, "w")).await;
        start(&owner, &theirs, held("held@1", 1, "w")).await;
        start(&owner, &theirs, with_labels("free@1", &["prod"])).await;
        start(&owner, &theirs, with_labels("pinned@1", &["host:x"])).await;
        for run in [&ours, &theirs] {
            owner.post(message(run, "person", run.as_str())).await.unwrap();
            owner.save_snapshot(run, 1, b"{}".to_vec()).await.unwrap();
            set(&owner, run, "timer", 5).await;
        }
        owner.greet(as_worker(&worker("w"))).await.unwrap();
        let login = open(&admit(&address, "gpu", Some(&["gpu", "linux"])).await).await;
        let own = worker("box:1:1:x").of_login("gpu");
        let taken = login.claim(claim(&own, &["gpu", "prod", "linux", "host:x"])).await.unwrap();
        assert_eq!(keys(&taken), ["mine@1"]);
        let role = format!("{}_gpu", address.rsplit_once('=').unwrap().1);
        Self { address, owner, login, role, own, ours, theirs, secret, plan }
    }

    fn schema(&self) -> &str {
        self.address.rsplit_once('=').unwrap().1
    }

    /// Everything that is stored, as the owner sees it.
    fn everything(&self) -> String {
        let tables = TABLES.map(|table| format!("SELECT '{table}', t::text FROM {table} t ORDER BY 2;")).join("\n");
        server::shared().sql(&format!("SET search_path = {}; {tables} SELECT last_value FROM change; SELECT rolname, rolsuper, rolcreaterole, rolbypassrls FROM pg_roles WHERE rolname = '{}'", self.schema(), self.role))
    }

    /// What the login is told when it asks the server itself.
    fn as_login(&self, statements: &str) -> Result<String, String> {
        let mut psql = server::shared().program("psql");
        psql.env("PGUSER", &self.role).args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c"]);
        let done = psql.arg(format!("SET search_path = {}; {statements}", self.schema())).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().trim().to_owned();
        if done.status.success() { Ok(text(done.stdout)) } else { Err(text(done.stderr)) }
    }

    fn report(&self, key: &str, attempt: u32) -> Report {
        Report {
            worker: self.own.clone(),
            run: self.ours.clone(),
            key: key.to_owned(),
            attempt,
            text: "{}".to_owned(),
            at_ms: 7,
        }
    }

    fn scope(&self) -> &dyn Scope {
        self.login.scope().unwrap()
    }
}

/// What nobody may do with a login, and what the server says to it.
fn forbidden(world: &World) -> Vec<(String, &'static str)> {
    let (own, schema, role) = (world.own.as_str(), world.schema(), &world.role);
    let denied = "permission denied";
    let mut all = Vec::new();
    for table in TABLES {
        all.push((format!("DELETE FROM {table}"), denied));
        all.push((format!("TRUNCATE {table} CASCADE"), denied));
        all.push((format!("INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM {table}"), denied));
        all.push((format!("DROP TABLE {table}"), "must be owner"));
        all.push((format!("ALTER TABLE {table} DISABLE ROW LEVEL SECURITY"), "must be owner"));
    }
    for column in ["run SET status = ''", "event SET at_ms = 1", "task SET worker = ''", "login SET labels = NULL"] {
        all.push((format!("UPDATE {column}"), denied));
    }
    for table in ["timer", "message", "posted", "blob_ref", "worker", "login"] {
        all.push((format!("SELECT * FROM {table}"), denied));
    }
    let none = "'{}', '{}'";
    let append = |run: &str, expected: u32| {
        format!(
            "SELECT append_1('{run}', {expected}, ARRAY['a'::bytea], ARRAY[1], ARRAY['{{}}'::bytea], ARRAY['a'::bytea], NULL, NULL, '{{}}', {none}, '{{}}', {none}, '{{}}', '{{}}', '{{}}', {none}, '{{}}', {none})"
        )
    };
    let report = |who: &str, run: &str, key: &str, attempt: u32| {
        format!("SELECT scoped_report_1('{who}', '{run}', '{key}', {attempt}, '{{}}', 1, 'a'::bytea)")
    };
    let no_worker = "is no worker of the login";
    for (statement, why) in [
        (append("fresh", 0).as_str(), denied),
        (&append("ours", 5), denied),
        ("SELECT post_1('ours', 'person', 'new', '{}', 1, 'a')", denied),
        ("SELECT claim_2('w', '[]', NULL, 9, 9, 'a', NULL, '{}', '{}')", denied),
        ("SELECT renew_1('w', 9)", denied),
        ("SELECT greet_1('w', '', '', '[]', 1, '', 1, 1, 9)", denied),
        ("SELECT remove_1('ours')", denied),
        ("SELECT save_snapshot_1('ours', 1, '')", denied),
        ("SELECT nextval('change')", denied),
        ("SELECT setval('change', 1)", denied),
        ("SELECT scoped_claim_1('w', '[]', 9, 9, 'a', NULL, '{}', '{}')", no_worker),
        ("SELECT scoped_claim_1('w:@other', '[]', 9, 9, 'a', NULL, '{}', '{}')", no_worker),
        ("SELECT scoped_claim_1('w:@gpu:@other', '[]', 9, 9, 'a', NULL, '{}', '{}')", no_worker),
        ("SELECT scoped_renew_1('w', 9)", no_worker),
        (&format!("SELECT scoped_inherit_1('{own}', 'w', 9)"), no_worker),
        (&format!("SELECT scoped_inherit_1('w', '{own}', 9)"), no_worker),
        ("SELECT scoped_greet_1('w', '', '', '[]', 1, '', 1, 1)", no_worker),
        ("SELECT scoped_dismiss_1('w')", no_worker),
        (&report("w", "ours", "other@1", 1), no_worker),
        (&report(own, "ours", "other@1", 1), "other@1"),
        (&report(own, "ours", "mine@1", 2), "mine@1"),
        (&report(own, "theirs", "held@1", 1), "held@1"),
        (&report(own, "theirs", "mine@1", 1), "mine@1"),
        (
            &format!("SELECT scoped_report_1('{own}', 'ours', 'mine@1', 1, repeat('x', 16777217), 1, 'a')"),
            "16 MiB at most",
        ),
        (&format!("SELECT admit_1('more', '{role}', NULL, 1)"), denied),
        ("SELECT expel_1('gpu')", denied),
        (&format!("GRANT {schema}_gpu TO longhaul"), "admin option"),
        (&format!("CREATE TABLE {schema}.more (x int)"), denied),
        (&format!("CREATE FUNCTION {schema}.login_1() RETURNS text LANGUAGE sql AS 'SELECT 1'"), denied),
        (&format!("DROP SCHEMA {schema} CASCADE"), "must be owner"),
        ("DROP FUNCTION scoped_as_1(text)", "must be owner"),
        (&format!("ALTER ROLE {role} SUPERUSER"), "must be superuser"),
        (&format!("ALTER ROLE {role} BYPASSRLS"), "must be superuser"),
        (&format!("ALTER ROLE {role} CREATEROLE"), denied),
        ("CREATE ROLE more", denied),
        ("SET ROLE longhaul", denied),
        ("SET SESSION AUTHORIZATION longhaul", denied),
        // A table of its own does not stand before the real one.
        (
            "CREATE TEMP TABLE login AS SELECT 'other'::text AS name, session_user::name AS role, NULL::jsonb AS labels;
             SELECT scoped_claim_1('w:@other', '[]', 9, 9, 'a', NULL, '{}', '{}')",
            no_worker,
        ),
    ] {
        all.push((statement.to_owned(), why));
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_its_own_is_refused_by_the_database() {
    let world = World::make().await;
    let before = world.everything();
    for (statement, why) in forbidden(&world) {
        match world.as_login(&statement) {
            Ok(said) => panic!("{statement}\nwas answered: {said}"),
            Err(said) => assert!(said.contains(why), "{statement}\n{said}"),
        }
        assert_eq!(world.everything(), before, "{statement}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_its_own_is_refused_through_the_store() {
    let world = World::make().await;
    let (login, ours, theirs, own) = (&world.login, &world.ours, &world.theirs, &world.own);
    let before = world.everything();
    let mut refused: Vec<Result<(), Error>> = vec![
        login.append(making(&RunId::new("fresh").unwrap())).await.map(drop),
        login.post(message(ours, "person", "forged")).await.map(drop),
        login.save_snapshot(ours, 1, b"{}".to_vec()).await,
        login.remove(theirs).await,
        login.remember(vec![("person".to_owned(), "later".to_owned())]).await,
        login.claim(claim(&worker("w"), &["gpu"])).await.map(drop),
        login.renew(&worker("w"), 1_000, 1_000).await.map(drop),
        login.greet(as_worker(&worker("w"))).await,
        login.dismiss(&worker("w")).await,
        world.scope().inherit(own, &worker("w"), 9).await.map(drop),
        login.inbox(ours).await.map(drop),
        login.timers(ours).await.map(drop),
        login.due(i64::MAX, 9).await.map(drop),
        login.workers().await.map(drop),
        login.posted(None, 9).await.map(drop),
        login.blobs(ours).await.map(drop),
        login.check().await.map(drop),
    ];
    for run in [ours, theirs] {
        let last = world.owner.run(run).await.unwrap().unwrap().last_seq;
        refused.push(login.append(Append::new(run.clone(), last, making(run).events)).await.map(drop));
    }
    for (number, refused) in refused.into_iter().enumerate() {
        assert!(matches!(refused, Err(Error::Denied(_))), "{number}: {refused:?}");
    }
    for (key, attempt) in [("other@1", 1), ("mine@1", 2), ("none@1", 1)] {
        let fenced = Err(Error::Fenced { key: key.to_owned() });
        assert_eq!(world.scope().report(world.report(key, attempt)).await, fenced);
    }
    assert_eq!(world.everything(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_reads_what_it_works_on_and_nothing_else() {
    let world = World::make().await;
    let login = &world.login;
    let runs: Vec<RunId> = login.runs(Query::default()).await.unwrap().into_iter().map(|row| row.run).collect();
    assert_eq!(runs, std::slice::from_ref(&world.ours));
    assert_eq!(login.read(&world.ours, 0, 99).await, world.owner.read(&world.ours, 0, 99).await);
    assert_eq!(login.snapshot(&world.ours).await, Ok(Some((1, b"{}".to_vec()))));
    assert_eq!(login.read(&world.theirs, 0, 99).await, Err(Error::UnknownRun));
    assert_eq!(login.snapshot(&world.theirs).await, Ok(None));
    assert_eq!(keys(&login.tasks(&world.ours).await.unwrap()), ["mine@1"]);
    assert_eq!(keys(&login.expired(i64::MAX, 9).await.unwrap()), ["mine@1"]);
    assert_eq!(login.unheld(9).await, Ok(Vec::new()));
    assert_eq!(login.blob(world.plan.hash).await, Ok(Some(world.plan.bytes.clone())));
    // It would open the gate from afar.
    assert_eq!(login.blob(world.secret.hash).await, Ok(None));
    let seen = |table: &str| world.as_login(&format!("SELECT count(*) FROM {table}")).unwrap();
    assert_eq!(["run", "task", "blob", "snapshot"].map(seen), ["1", "1", "1", "1"].map(str::to_owned));
    let last = world.owner.run(&world.ours).await.unwrap().unwrap().last_seq;
    assert_eq!(seen("event"), last.to_string());
}

/// The one thing that it says is heard, and says by itself what it is, whatever is written into it.
#[tokio::test(flavor = "multi_thread")]
async fn what_it_reports_is_a_report() {
    let world = World::make().await;
    let forged = "\", \"message\": \"answer\", \"x\": \"\u{1}\\u0000";
    world.scope().report(Report { text: forged.to_owned(), ..world.report("mine@1", 1) }).await.unwrap();
    let inbox = world.owner.inbox(&world.ours).await.unwrap();
    let said = inbox.last().unwrap();
    assert_eq!((said.source.as_str(), said.at_ms), ("login:gpu", 7));
    let body: serde_json::Value = serde_json::from_str(&said.body).unwrap();
    let whole = serde_json::json!({"message": "report", "login": "gpu", "worker": world.own, "key": "mine@1",
        "attempt": 1, "event": forged});
    assert_eq!(body, whole);
    // Who asks for the same again with the same token had not heard the answer.
    let again = format!("SELECT scoped_report_1('{}', 'ours', 'mine@1', 1, '{{}}', 1, 'a')", world.own);
    assert_eq!(world.as_login(&format!("{again}; {again}")), Ok("new\nnew".to_owned()));
    assert_eq!(world.owner.inbox(&world.ours).await.unwrap().len(), inbox.len() + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_kept_by_words_and_not_for_ever() {
    let world = World::make().await;
    let kept = world.login.renew(&world.own, 1_000, 7_000).await.unwrap();
    assert_eq!((keys(&kept), kept[0].lease_until_ms), (vec!["mine@1"], 8_000));
    let now = world.owner.now_ms().await.unwrap().unwrap();
    let kept = world.login.renew(&world.own, i64::MAX, 1).await.unwrap();
    assert!((now..now + 700_000).contains(&kept[0].lease_until_ms), "{}", kept[0].lease_until_ms);
    // Another life of the same login continues with it; the earlier one is out.
    let next = worker("box:2:2:y").of_login("gpu");
    assert_eq!(keys(&world.scope().inherit(&next, &world.own, 9_000).await.unwrap()), ["mine@1"]);
    assert!(matches!(world.scope().report(world.report("mine@1", 1)).await, Err(Error::Fenced { .. })));
    let labels = vec!["gpu".to_owned(), "prod".to_owned()];
    world.login.greet(Worker { labels, seen_ms: i64::MAX, ..as_worker(&next) }).await.unwrap();
    let there = world.owner.workers().await.unwrap();
    let listed = there.iter().find(|listed| listed.worker.id == next).unwrap();
    assert!(listed.worker.seen_ms < now + 700_000, "{}", listed.worker.seen_ms);
    assert_eq!((there.len(), listed.worker.labels.join(" "), listed.busy), (2, "gpu".to_owned(), 1));
    // Where the files are that it has left, what is next is its own.
    start(&world.owner, &world.theirs, with_labels("files@1", &["agent:a", "host:box", "project:p"])).await;
    world.login.greet(Worker { host: "box".to_owned(), ..as_worker(&next) }).await.unwrap();
    let more = world.login.claim(claim(&next, &["agent:a", "host:box", "project:p"])).await.unwrap();
    assert_eq!(keys(&more), ["files@1"]);
    world.login.dismiss(&next).await.unwrap();
    assert_eq!(world.owner.workers().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_is_gone_can_do_nothing_and_what_it_held_waits_for_its_lease() {
    let world = World::make().await;
    let (_, store) = database(&world.address).await;
    let known = Login {
        name: "gpu".to_owned(),
        role: world.role.clone(),
        labels: Some(vec!["gpu".to_owned(), "linux".to_owned()]),
        since_ms: 1,
        busy: 1,
    };
    assert_eq!(store.logins().await, Ok(vec![known]));
    let gone = store.expel("gpu").await.unwrap().unwrap();
    assert_eq!((gone.role, gone.left_to_do), (world.role.clone(), None));
    assert_eq!((store.expel("gpu").await, store.logins().await), (Ok(None), Ok(Vec::new())));
    assert!(world.login.renew(&world.own, 1_000, 1_000).await.is_err());
    assert!(world.login.read(&world.ours, 0, 9).await.is_err());
    assert!(world.as_login("SELECT 1").is_err());
    assert_eq!(world.owner.tasks(&world.ours).await.unwrap()[0].worker, Some(world.own.clone()));
}

/// Whoever owns the tables need not be allowed to make roles.
#[tokio::test(flavor = "multi_thread")]
async fn what_takes_an_administrator_is_left_to_one() {
    let server = server::shared();
    server.sql("CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE postgres TO plain");
    let address = server.address().replace("longhaul@", "plain@");
    let (address, store) = database(&address).await;
    let login = NewLogin { name: "box".to_owned(), labels: Some(vec!["it's".to_owned()]), at_ms: 1 };
    let made = store.admit(&address, &login).await.unwrap();
    let left = made.left_to_do.unwrap();
    let password = made.address.split([':', '@']).nth(2).unwrap();
    assert!(left.contains("SCRAM-SHA-256$") && !left.contains(password), "{left}");
    assert_eq!(store.logins().await, Ok(Vec::new()));
    server.sql(&left);
    assert_eq!(store.logins().await.unwrap()[0].labels, Some(vec!["it's".to_owned()]));
    let opened = open(&made.address).await;
    assert_eq!(opened.scope().unwrap().login(), "box");
    assert_eq!(opened.scope().unwrap().labels(), Some(&["it's".to_owned()][..]));
    assert!(matches!(store.admit(&address, &login).await.err(), Some(Error::Exists)));
    let left = store.expel("box").await.unwrap().unwrap().left_to_do.unwrap();
    assert!(opened.renew(&worker("x").of_login("box"), 1, 1).await.is_err());
    // Until that is done the role is there, and what is left to do is told again.
    assert_eq!(store.left_behind(&address, "box").await.unwrap().unwrap().left_to_do.as_ref(), Some(&left));
    assert_eq!((store.expel("box").await, store.logins().await), (Ok(None), Ok(Vec::new())));
    // Made again meanwhile, it has a password of its own.
    let password = format!("SELECT rolpassword FROM pg_authid WHERE rolname = '{}'", made.role);
    let before = server.sql(&password);
    let again = store.admit(&address, &login).await.unwrap().left_to_do.unwrap();
    server.sql(&again);
    assert!(server.sql(&password) != before && store.logins().await.unwrap().len() == 1);
    // Twice is refused as a whole.
    let before = server.sql(&password);
    let other = store.admit(&address, &NewLogin { name: "other".to_owned(), ..login.clone() }).await.unwrap();
    let doubled = other.left_to_do.unwrap().replace("_other", "_box").replace("'other'", "'box'");
    let mut psql = server.program("psql");
    let refused = psql.args(["-X", "-c"]).arg(&doubled).output().unwrap();
    assert!(!refused.status.success() && server.sql(&password) == before);
    let left = store.expel("box").await.unwrap().unwrap().left_to_do.unwrap();
    server.sql(&left);
    assert_eq!(store.left_behind(&address, "box").await, Ok(None));
    // A role that has the tables is none that could be a login.
    let refused = server.program("psql").args(["-X", "-c"]).arg("SELECT s0.admit_1('x', 'longhaul', NULL, 1)").output();
    assert!(!refused.unwrap().status.success());
}

/// Somebody to whom an administrator has given the tables is no login, and sees everything.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_was_given_the_tables_by_hand_works_as_before() {
    let world = World::make().await;
    let schema = world.schema();
    server::shared().sql(&format!(
        "CREATE ROLE by_hand LOGIN; GRANT USAGE ON SCHEMA {schema} TO by_hand;
         GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO by_hand; GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO by_hand;
         GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO by_hand"
    ));
    let store = open(&world.address.replace("longhaul@", "by_hand@")).await;
    assert!(store.scope().is_none());
    assert_eq!(store.read(&world.theirs, 0, 99).await, world.owner.read(&world.theirs, 0, 99).await);
    assert_eq!(store.blob(world.secret.hash).await, Ok(Some(world.secret.bytes.clone())));
    start(&store, &world.theirs, task("more@1", 1)).await;
    store.save_snapshot(&world.theirs, 2, b"{}".to_vec()).await.unwrap();
    assert_eq!(keys(&store.claim(claim(&worker("hand"), &[])).await.unwrap()), ["more@1"]);
    // What is for logins is for nobody else.
    let mut psql = server::shared().program("psql");
    psql.env("PGUSER", "by_hand").args(["-X", "-c"]).arg(format!("SELECT {schema}.scoped_renew_1('hand', 9)"));
    let refused = String::from_utf8(psql.output().unwrap().stderr).unwrap();
    assert!(refused.contains("this is for logins"), "{refused}");
}

/// The password is the one that the address has, and no other.
#[tokio::test(flavor = "multi_thread")]
async fn the_password_counts() {
    let server = server::Server::start(server::Safe::No);
    let made = admit(&server.address(), "box", None).await;
    let hba = server.sql("SHOW hba_file");
    std::fs::write(hba, "local all longhaul trust\nlocal all all scram-sha-256\n").unwrap();
    server.sql("SELECT pg_reload_conf()");
    let place = |address: &str| address.parse::<Place>().unwrap();
    let opened = place(&made).open(Duration::from_secs(10)).await.unwrap();
    assert_eq!(opened.scope().unwrap().login(), "box");
    let password = made.split([':', '@']).nth(2).unwrap();
    let wrong = place(&made.replace(password, "wrong")).open(Duration::from_secs(10)).await.err();
    assert!(matches!(wrong, Some(Error::Denied(_))), "{wrong:?}");
}
