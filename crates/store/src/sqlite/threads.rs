//! Threads for work that blocks: started when there is work for them, and kept.
//!
//! **Invariant:** what is handed over is done, also where the system gives us no thread: then by whoever hands it over. When this is
//! dropped, all of it is done.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

pub(super) type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(super) struct Threads {
    shared: Arc<Shared>,
    started: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    more: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Threads that wait for a job.
    idle: usize,
    /// Threads that there are.
    all: usize,
    is_closed: bool,
}

impl Threads {
    /// Has a job done, on a thread if one can be had.
    pub(super) fn have_done(&self, job: Job) {
        let mut queue = self.shared.lock();
        queue.jobs.push_back(job);
        if queue.idle >= queue.jobs.len() {
            drop(queue);
            return self.shared.more.notify_one();
        }
        queue.all += 1;
        drop(queue);
        if !self.start() {
            let mut queue = self.shared.lock();
            queue.all -= 1;
            // Those that are there take it when they are free. Without any, it is ours.
            let ours = if queue.all == 0 { queue.jobs.pop_front() } else { None };
            drop(queue);
            ours.into_iter().for_each(perform);
        }
    }

    fn start(&self) -> bool {
        let shared = Arc::clone(&self.shared);
        let started = Builder::new().name("store-reader".to_owned()).spawn(move || shared.serve());
        let is_started = started.is_ok();
        self.started.lock().unwrap_or_else(PoisonError::into_inner).extend(started);
        is_started
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        while let Some(job) = self.next() {
            perform(job);
        }
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            if queue.is_closed {
                return None;
            }
            queue.idle += 1;
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }
}

fn perform(job: Job) {
    // One that panics has told whoever waits by not answering; the others continue.
    let _ = catch_unwind(AssertUnwindSafe(job));
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.more.notify_all();
        let started = std::mem::take(self.started.get_mut().unwrap_or_else(PoisonError::into_inner));
        let own = std::thread::current().id();
        for thread in started.into_iter().filter(|thread| thread.thread().id() != own) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn everything_is_done_at_the_latest_when_the_threads_are_dropped() {
        let (done, all) = channel();
        let threads = Threads::default();
        for number in 0..100 {
            let done = done.clone();
            threads.have_done(Box::new(move || done.send(number).unwrap()));
        }
        threads.have_done(Box::new(|| panic!("this one breaks")));
        drop((threads, done));
        let mut got: Vec<i32> = all.iter().collect();
        got.sort_unstable();
        assert_eq!(got, (0..100).collect::<Vec<_>>());
    }
}
