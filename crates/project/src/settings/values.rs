//! Reads the settings about values in `config.toml`.
//!
//! ```toml
//! [values]
//! env = ["DEPLOY_REGION"]   # variables that `env.X` may read in runs that were not started at the command line
//! max_mib = 64              # the largest output
//! ```

use anyhow::{Result, anyhow, bail};
use longhaul_config::Values;
use toml_edit::{DocumentMut, Item};

use super::entries;

/// The largest size that can be set: the limit of a store.
const MIB_MAX: i64 = 200;

/// A checkout may set which variables are readable only if a person trusts it.
pub(super) fn sensitive(document: &DocumentMut) -> Option<&'static str> {
    document.get("values").map(|_| "values")
}

/// Adds the variables of a file. The first file that sets a size wins.
pub(super) fn add(document: &DocumentMut, values: &mut Values, is_sized: &mut bool) -> Result<()> {
    for (name, item) in entries(document.get("values"), "values")? {
        match name {
            "env" => values.env = values.env.iter().cloned().chain(names(item)?).collect::<Vec<_>>().into(),
            "max_mib" if *is_sized => drop(bytes(item)?),
            "max_mib" => (values.bytes_max, *is_sized) = (bytes(item)?, true),
            other => bail!("`values.{other}` is not a setting; there are env and max_mib"),
        }
    }
    Ok(())
}

fn names(item: &Item) -> Result<Vec<String>> {
    let names = item.as_array().map(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
    let names: Option<Vec<String>> = names.flatten();
    names.ok_or_else(|| anyhow!("`values.env` is not a list of variables"))
}

fn bytes(item: &Item) -> Result<usize> {
    let mib = item.as_integer().filter(|mib| (1..=MIB_MAX).contains(mib));
    let mib = mib.and_then(|mib| usize::try_from(mib).ok());
    mib.map(|mib| mib << 20).ok_or_else(|| anyhow!("`values.max_mib` is not a number from 1 to {MIB_MAX}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn of(files: &[&str]) -> Result<Values, String> {
        let (mut values, mut is_sized) = (Values::default(), false);
        for text in files {
            add(&text.parse().unwrap(), &mut values, &mut is_sized).map_err(|error| error.to_string())?;
        }
        Ok(values)
    }

    #[test]
    fn variables_add_up_and_the_first_size_counts() {
        let values = of(&["[values]\nenv = ['A']\nmax_mib = 2", "[values]\nenv = ['B']\nmax_mib = 3"]).unwrap();
        assert_eq!((values.env, values.bytes_max), (Arc::from(["A".to_owned(), "B".to_owned()]), 2 << 20));
        assert_eq!(of(&[""]).unwrap().bytes_max, 64 << 20);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, why) in
            [("max_mib = 0", "1 to 200"), ("max_mib = 'x'", "1 to 200"), ("env = 1", "a list"), ("x = 1", "values.x")]
        {
            assert!(of(&[&format!("[values]\n{text}")]).unwrap_err().contains(why), "{text}");
        }
    }
}
