//! Runs that several machines share through a PostgreSQL database, with real processes and a real server.

#![cfg(test)]

mod absent;
#[path = "../binary/mod.rs"]
mod binary;
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
#[path = "../serve/site.rs"]
#[allow(dead_code, reason = "written for tests of servers; these use a part of it")]
mod site;
mod telling;
#[path = "../crash/trial.rs"]
#[allow(dead_code, reason = "written for tests of crashes; these use a part of it")]
mod trial;
