//! Encrypted connections, to a server that takes no others.
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use longhaul_store::conformance::encrypted::Encrypted;
use longhaul_store::conformance::made;
use longhaul_store::{Error, Postgres, PostgresOptions, Store};

fn shared() -> &'static Encrypted {
    static SHARED: OnceLock<Encrypted> = OnceLock::new();
    SHARED.get_or_init(Encrypted::start)
}

async fn open(host: &str, options: &str) -> Result<Arc<dyn Store>, Error> {
    let address = shared().address(host, options).parse().unwrap();
    // Who is not let in hears of it at once: nobody waits for a server to become another one.
    let options = PostgresOptions { opening: Duration::from_secs(600), ..PostgresOptions::default() };
    Ok(Arc::new(Postgres::open(&address, options).await?))
}

/// Works, and every connection of it is encrypted.
async fn works(host: &str, options: &str) {
    let store = open(host, options).await.unwrap_or_else(|error| panic!("{options}: {error}"));
    let run = made(&store, "encrypted").await;
    assert_eq!(store.read(&run, 0, 10).await.unwrap().len(), 1);
    let open = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                WHERE application_name = 'longhaul' AND NOT ssl";
    assert_eq!(shared().server.sql(open), "0", "{options}");
}

async fn refused(host: &str, options: &str) -> String {
    match open(host, options).await {
        Err(Error::Unreachable(why) | Error::Denied(why)) => why,
        Err(other) => panic!("{options}: {other:?}"),
        Ok(_) => panic!("{options} was let in"),
    }
}

fn knowing(file: &std::path::Path) -> String {
    format!("sslrootcert={}", file.display())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_works_over_encrypted_connections() {
    let authority = knowing(&shared().authority());
    for options in ["", "sslmode=prefer", "sslmode=require"] {
        works("127.0.0.1", options).await;
    }
    works("localhost", &format!("sslmode=require&{authority}")).await;
    works("localhost", &format!("sslmode=verify-full&{authority}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_another_name_or_of_another_authority_is_refused() {
    let (authority, stranger) = (knowing(&shared().authority()), knowing(&shared().stranger()));
    for mode in ["verify-full", "require"] {
        let why = refused("127.0.0.1", &format!("sslmode={mode}&{authority}")).await;
        assert!(why.contains("certificate") && why.contains("name"), "{why}");
        let why = refused("localhost", &format!("sslmode={mode}&{stranger}")).await;
        assert!(why.contains("certificate") && why.contains("UnknownIssuer"), "{why}");
    }
    // What the machine trusts does not have an authority that was made just now.
    let why = refused("localhost", "sslmode=verify-full").await;
    assert!(why.contains("certificate"), "{why}");
    let why = refused("localhost", "sslmode=verify-full&sslrootcert=/no/such/file").await;
    assert!(why.contains("TLS cannot be set up"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_encrypted_is_refused_by_the_server() {
    let why = refused("127.0.0.1", "sslmode=disable").await;
    assert!(why.contains("no encryption"), "{why}");
}
