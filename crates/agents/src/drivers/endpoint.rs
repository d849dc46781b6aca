//! The driver for models behind an address: turns the settings of an agent into an endpoint.
//!
//! **Invariant:** the default key goes only to the default address. Settings with another address must also name its
//! key.

use crate::contract::{
    Abilities, Agent, AgentAuth, AgentSetup, InstalledAgent, Invocation, MissingAgent, Reader, Turn, UnsupportedTurn,
};
use crate::drivers::served;
use crate::drivers::surroundings::Surroundings;
use crate::serve::{Ask, Endpoint, Service, Wire, is_near};

const ROUNDS_MAX: u32 = 50;

/// An agent that is a model behind an address, with its defaults.
pub(super) struct Usual {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) base_url: &'static str,
    pub(super) key_env: &'static str,
    pub(super) wires: &'static [(&'static str, Wire)],
}

const ABILITIES: Abilities = Abilities {
    resume: true,
    choose_session: true,
    compact: true,
    schema: true,
    budget: false,
    read_only: true,
    tools: true,
    mcp: false,
    mcp_only: false,
    system: true,
    images: false,
    cost: false,
};

impl Agent for Usual {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn abilities(&self) -> Abilities {
        ABILITIES
    }

    /// Whether the model can be used: there must be a key, unless the address is on this machine.
    fn find(&self, setup: &AgentSetup) -> Result<InstalledAgent, MissingAgent> {
        if setup.auth == AgentAuth::Login {
            return Err(MissingAgent {
                what: format!("{} has no login of its own", self.name),
                remedy: "set `auth` to `key`".to_owned(),
            });
        }
        let is_near = is_near(self.base_url(setup));
        let Some(name) = self.key_env(setup) else {
            return if is_near { served::found(false) } else { Err(self.keyless(setup)) };
        };
        let is_set = Surroundings::of(setup).variable(name).is_some();
        if is_set || is_near {
            return served::found(false);
        }
        Err(MissingAgent {
            what: format!("`{name}`, which holds the key of {}, is not set", self.name),
            remedy: format!("set {name}, or name another variable with `key_env`"),
        })
    }

    fn invoke(&self, found: &InstalledAgent, setup: &AgentSetup, turn: &Turn) -> Result<Invocation, UnsupportedTurn> {
        let endpoint = self.endpoint(setup, turn)?;
        let key = endpoint.key_env.clone();
        let ask = Ask { turn: turn.clone(), home: setup.home.clone(), service: Service::Model(endpoint) };
        let mut invocation = served::invocation(self.name, found, setup, &ask)?;
        invocation.keep_env.extend(key);
        Ok(invocation)
    }

    fn reader(&self, _turn: &Turn) -> Box<dyn Reader> {
        Box::<served::Lines>::default()
    }
}

impl Usual {
    fn endpoint(&self, setup: &AgentSetup, turn: &Turn) -> Result<Endpoint, UnsupportedTurn> {
        let Some(model) = turn.model.clone().or_else(|| setup.model.clone()) else {
            return Err(UnsupportedTurn(format!("no model is named for {}; set `model`", self.name)));
        };
        let mut endpoint = Endpoint {
            wire: self.wires[0].1,
            base_url: self.base_url(setup).to_owned(),
            key_env: self.key_env(setup).map(str::to_owned),
            model,
            rounds_max: ROUNDS_MAX,
            output_tokens_max: None,
            is_usual: setup.base_url.as_deref().is_none_or(|url| url.trim_end_matches('/') == self.base_url),
        };
        let mut args = setup.args.iter();
        while let Some(name) = args.next() {
            self.set(&mut endpoint, name, args.next().map_or("", String::as_str)).map_err(UnsupportedTurn)?;
        }
        Ok(endpoint)
    }

    fn set(&self, endpoint: &mut Endpoint, name: &str, value: &str) -> Result<(), String> {
        let number = || match value.parse::<u32>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("`{name}` wants a number, not `{value}`")),
        };
        match name {
            "--rounds" => endpoint.rounds_max = number()?,
            "--max-tokens" => endpoint.output_tokens_max = Some(number()?.into()),
            "--wire" => endpoint.wire = self.wire(value)?,
            _ => return Err(format!("{} knows --rounds, --max-tokens and --wire, not `{name}`", self.name)),
        }
        Ok(())
    }

    fn wire(&self, value: &str) -> Result<Wire, String> {
        let names = || self.wires.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ");
        let found = self.wires.iter().find(|(name, _)| *name == value);
        found.map(|(_, wire)| *wire).ok_or_else(|| format!("{} speaks {}, not `{value}`", self.name, names()))
    }

    fn base_url<'a>(&self, setup: &'a AgentSetup) -> &'a str {
        setup.base_url.as_deref().unwrap_or(self.base_url)
    }

    fn key_env<'a>(&self, setup: &'a AgentSetup) -> Option<&'a str> {
        match (&setup.key_env, &setup.base_url) {
            (Some(name), _) => Some(name),
            (None, None) => Some(self.key_env),
            (None, Some(_)) => None,
        }
    }

    fn keyless(&self, setup: &AgentSetup) -> MissingAgent {
        MissingAgent {
            what: format!("no key is named for `{}`", self.base_url(setup)),
            remedy: "name the variable that holds it with `key_env`".to_owned(),
        }
    }
}
