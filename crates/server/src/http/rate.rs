//! Limits how often a client may ask: each client has a bucket that fills up again.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many clients to remember. Above that, clients with full buckets are forgotten.
const CLIENTS_MAX: usize = 1024;

/// A bucket for each client.
#[derive(Debug)]
pub(super) struct Rate {
    burst: f64,
    per_second: f64,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rate {
    /// Allows `burst` requests at once, and then `per_second` requests per second.
    pub(super) fn new(burst: u32, per_second: f64) -> Self {
        Self { burst: f64::from(burst), per_second, buckets: Mutex::default() }
    }

    /// Takes one token from the bucket, or returns how long to wait.
    pub(super) fn take(&self, client: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= CLIENTS_MAX {
            buckets.retain(|_, bucket| self.filled(bucket, now) < self.burst);
        }
        let bucket = buckets.entry(client).or_insert(Bucket { left: self.burst, at: now });
        let left = self.filled(bucket, now);
        *bucket = Bucket { left: if left >= 1.0 { left - 1.0 } else { left }, at: now };
        if left >= 1.0 { Ok(()) } else { Err(Duration::from_secs_f64((1.0 - left) / self.per_second)) }
    }

    /// How long to wait if the bucket is empty, without taking a token.
    pub(super) fn is_spent(&self, client: IpAddr, now: Instant) -> Option<Duration> {
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let left = buckets.get(&client).map_or(self.burst, |bucket| self.filled(bucket, now));
        (left < 1.0).then(|| Duration::from_secs_f64((1.0 - left) / self.per_second))
    }

    fn filled(&self, bucket: &Bucket, now: Instant) -> f64 {
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.left + since * self.per_second).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_waits_for_its_own_bucket_alone() {
        let (rate, now) = (Rate::new(2, 0.5), Instant::now());
        let (one, other) = ("127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap());
        assert!(rate.take(one, now).is_ok() && rate.take(one, now).is_ok());
        assert_eq!(rate.take(one, now), Err(Duration::from_secs(2)));
        assert_eq!(rate.is_spent(one, now), Some(Duration::from_secs(2)));
        assert!(rate.take(other, now).is_ok());
        assert!(rate.take(one, now + Duration::from_secs(2)).is_ok());
        assert!(rate.take(one, now + Duration::from_secs(2)).is_err());
    }

    #[test]
    fn clients_that_are_gone_are_forgotten() {
        let (rate, now) = (Rate::new(2, 1.0), Instant::now());
        for number in 0..5000u32 {
            let client = IpAddr::from(number.to_be_bytes());
            rate.take(client, now + Duration::from_secs(u64::from(number))).unwrap();
        }
        assert!(rate.buckets.lock().unwrap().len() <= CLIENTS_MAX);
    }
}
