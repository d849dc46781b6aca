//! Tests runs that several machines share through a PostgreSQL database, with real processes and a real server.

mod absent;
mod chaos;
mod crashes;
mod encrypted;
mod hosts;
mod link;
mod logins;
mod machine;
mod moving;
mod nodes;
mod outages;
mod telling;
