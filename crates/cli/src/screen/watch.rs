//! Shows a run as a tree and carries out what keys ask for, until the run is over or the user leaves.
//!
//! **Invariant:** the screen shows what is in the store; news from the engine only causes another read. No failure here
//! stops the run.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use longhaul_core::event::{Answer, Event};
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::view::{self, Asked};
use longhaul_runtime::{Engine, EngineEvent, Message};
use tokio::sync::broadcast::Receiver;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::act::{Around, Deed, Ui, press};
use super::frame::{self, Seen};
use super::keys::Key;
use super::line::{Line, Tone};
use super::painter::Painter;
use super::rows::rows;
use super::said::Said;
use super::terminal::{self, Terminal};
use crate::leaving::Leave;
use crate::live::Live;
use crate::{answering, identity, ui as term};

/// How often the screen is drawn again.
const TICK: Duration = Duration::from_millis(120);
/// After how many ticks the screen reads a run that another process runs.
const LOOK_TICKS: usize = 3;

/// A run on the screen.
pub(crate) struct Watch {
    engine: Engine,
    run: RunId,
    ui: Ui,
    painter: Painter,
    live: Live,
    said: Said,
    seen: Option<Seen>,
    /// The last event that was read.
    seq: u64,
    leaving: &'static str,
    /// Whether this process runs the run.
    drives: bool,
    /// Whether leaving hands the run to the background engine.
    detaches: bool,
    terminal: Option<Terminal>,
    keys: UnboundedReceiver<Key>,
}

impl Watch {
    pub(crate) fn new(engine: Engine, run: RunId, leaving: &'static str) -> Self {
        let (terminal, keys) = Terminal::take();
        Self {
            engine,
            run,
            ui: Ui::default(),
            painter: Painter::default(),
            live: Live::default(),
            said: Said::default(),
            seen: None,
            seq: 0,
            leaving,
            drives: false,
            detaches: false,
            terminal: Some(terminal),
            keys,
        }
    }

    /// Shows a run that this process runs, until `over`. Keys ask to leave through `leave`.
    pub(crate) async fn drive(
        mut self,
        mut pulse: Receiver<EngineEvent>,
        over: CancellationToken,
        leave: UnboundedSender<Leave>,
    ) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        self.drives = true;
        self.look().await;
        loop {
            tokio::select! {
                biased;
                () = over.cancelled() => break,
                key = self.keys.recv(), if !self.keys.is_closed() => {
                    if let Some(key) = key && self.press(key).await {
                        // Nobody listens any more if the run is over.
                        let _ = leave.send(if std::mem::take(&mut self.detaches) { Leave::Detach } else { Leave::Stop });
                    }
                }
                news = pulse.recv() => {
                    // Missed events are read again below.
                    if let Ok(news) = news { self.hear(news); }
                    continue;
                }
                _ = ticks.tick() => self.tick().await,
            }
            self.draw();
        }
        self.look().await;
        self.leave();
    }

    /// Shows a run that another process runs, until the user leaves or, unless it `stays`, the run is over.
    pub(crate) async fn observe(mut self, stays: bool, stop: CancellationToken) -> Result<()> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        self.look().await;
        if self.seen.is_none() {
            bail!("{} cannot be read", self.run);
        }
        loop {
            self.draw();
            if !stays && self.seen.as_ref().is_some_and(|seen| seen.run.ended_at.is_some()) {
                break;
            }
            tokio::select! {
                () = stop.cancelled() => break,
                key = self.keys.recv(), if !self.keys.is_closed() => {
                    if let Some(key) = key && self.press(key).await {
                        break;
                    }
                }
                _ = ticks.tick() => {
                    self.overhear();
                    self.tick().await;
                }
            }
        }
        self.look().await;
        if stays {
            self.painter.clear(terminal::size().0);
            self.terminal = None;
        } else {
            self.leave();
        }
        Ok(())
    }

    fn hear(&mut self, news: EngineEvent) {
        match news {
            EngineEvent::Entry(run, said) if run == self.run => {
                self.said.note(&said.path, &said.entry);
                if self.ui.follows {
                    let lines = self.live.lines(&said.path, &said.entry);
                    let lines: Vec<Line> = lines.iter().map(|line| dim(line)).collect();
                    self.print(&lines);
                }
            }
            EngineEvent::Alive(run, path, words) if run == self.run => self.said.silence(&path, &words),
            EngineEvent::Notice(run, path, text) if run == self.run => {
                self.print(&[Line::of(Tone::Bold, &format!("{path}: {text}"))]);
            }
            EngineEvent::Events(run, events) if run == self.run => {
                for envelope in events.iter() {
                    if let Event::AttemptStarted { path, .. } = &envelope.event {
                        self.said.forget(path);
                    }
                }
            }
            _ => {}
        }
    }

    /// Reads what agents of other processes say, from their transcript files.
    fn overhear(&mut self) {
        let Some(seen) = &self.seen else { return };
        let mut running = Vec::new();
        at_work(&seen.steps, &mut running);
        for (path, attempt) in running {
            let file = self.engine.attempt_dir(&self.run, &path, attempt).join("transcript.jsonl");
            for entry in tail(&file) {
                self.said.note(&path, &entry);
            }
        }
    }

    async fn tick(&mut self) {
        self.ui.tick += 1;
        if self.drives || self.ui.tick.is_multiple_of(LOOK_TICKS) {
            self.look().await;
        }
    }

    /// Reads the run again if something happened; else only updates the times.
    async fn look(&mut self) {
        let now = self.engine.now_ms();
        let news = self.engine.events(&self.run, self.seq, 1000).await.unwrap_or_default();
        if let (None, Some(seen)) = (news.last(), &mut self.seen) {
            pass(seen, now);
            return;
        }
        // If the store cannot be read now, the next look reads it.
        let Ok(loaded) = self.engine.load(&self.run).await else { return };
        self.seq = news.last().map_or(self.seq, |last| last.seq);
        let plan = &loaded.plan.0;
        let stands = view::standing(self.run.as_str(), plan, &loaded.state);
        let standing = match self.drives {
            true => stands,
            false => self.engine.standing(&self.run, &loaded).await.unwrap_or(stands),
        };
        self.seen = Some(Seen {
            name: self.run.to_string(),
            run: view::run(plan, &loaded.state, now),
            standing,
            steps: view::steps(plan, &loaded.state, now),
            asked: view::questions(plan, &loaded.state),
            said: std::collections::HashMap::new(),
            leaving: self.leaving,
        });
    }

    fn draw(&mut self) {
        let (columns, height) = terminal::size();
        let Some(seen) = &mut self.seen else { return };
        seen.said.clone_from(self.said.lines());
        let lines = frame::frame(seen, &self.ui, columns, height);
        self.painter.draw(&lines, columns);
    }

    fn print(&mut self, lines: &[Line]) {
        let (columns, _) = terminal::size();
        let lines: Vec<Line> = lines.iter().map(|line| line.clone().cut(columns)).collect();
        self.painter.print(&lines, columns);
    }

    /// Leaves the last tree on the terminal.
    fn leave(&mut self) {
        let (columns, height) = terminal::size();
        if let Some(seen) = &self.seen {
            let lines = frame::last(seen, &self.ui, columns, height);
            self.painter.draw(&lines, columns);
        }
        self.painter.leave();
        self.terminal = None;
    }

    /// Does what a key asks for; returns whether the user leaves.
    async fn press(&mut self, key: Key) -> bool {
        let Some(seen) = &self.seen else { return false };
        let (columns, height) = terminal::size();
        let rows = rows(&seen.steps, &self.ui.turned);
        let page = frame::page(seen, &self.ui, columns, height);
        let around = Around { run: &seen.run, rows: &rows, asked: &seen.asked, page };
        let deed = press(&mut self.ui, key, around);
        let Some(deed) = deed else { return false };
        if deed == Deed::Leave || (deed == Deed::Detach && self.drives) {
            self.detaches = deed == Deed::Detach;
            return true;
        }
        if let Err(error) = self.carry_out(deed).await {
            self.ui.news = Some(format!("{error:#}"));
        }
        self.look().await;
        false
    }

    async fn carry_out(&mut self, deed: Deed) -> Result<()> {
        let by = identity::caller().who.name().map(str::to_owned);
        match deed {
            Deed::Answer(path, answer) => self.answer(path, answer).await,
            Deed::Typed(path, text) => {
                let loaded = self.engine.load(&self.run).await?;
                let make = |value| Ok(self.message(path.clone(), Answer::Value { value }));
                let message = answering::fitting(&text, &loaded, make)?;
                self.tell(message).await
            }
            Deed::Edit(path) => self.edit(path).await,
            Deed::Read(path) => {
                let lines = self.asked(&path).map(|asked| frame::whole(asked, terminal::size().0));
                self.print(&lines.unwrap_or_default());
                Ok(())
            }
            Deed::Pause => self.tell(Message::Pause { by }).await,
            Deed::Unpause => self.tell(Message::Unpause { by }).await,
            Deed::Cancel => self.tell(Message::Cancel { reason: None, by }).await,
            Deed::Detach => bail!("another process runs this run already"),
            Deed::Leave => Ok(()),
        }
    }

    fn asked(&self, path: &StepPath) -> Option<&Asked> {
        self.seen.as_ref()?.asked.iter().find(|asked| asked.path == *path)
    }

    /// The message that answers the question on the screen.
    fn message(&self, path: StepPath, answer: Answer) -> Message {
        let hash = self.asked(&path).map(|asked| asked.shown.clone());
        let mut message = Message::answer(path, answer, identity::caller());
        if let Message::Answer { shown, .. } = &mut message {
            *shown = hash;
        }
        message
    }

    async fn answer(&self, path: StepPath, answer: Answer) -> Result<()> {
        self.tell(self.message(path, answer)).await
    }

    async fn tell(&self, message: Message) -> Result<()> {
        // This screen runs the run or shows its state, so it does not wait for the result here.
        self.engine.command(&self.run, message, &identity::origin(), Duration::ZERO).await?;
        Ok(())
    }

    /// Lets the user change a value in an editor; an unchanged value is not sent.
    async fn edit(&mut self, path: StepPath) -> Result<()> {
        let Some(asked) = self.asked(&path) else { bail!("`{path}` asks nothing any more") };
        let is_review = asked.output.is_some();
        let before = asked.output.as_ref().map(term::readable).unwrap_or_default();
        let after = self.in_editor(&before).await?;
        if after.trim().is_empty() || after == before {
            bail!("nothing was changed, so nothing was answered");
        }
        let loaded = self.engine.load(&self.run).await?;
        let make = |value| {
            let answer = if is_review { Answer::Edit { value } } else { Answer::Value { value } };
            Ok(self.message(path.clone(), answer))
        };
        let message = answering::fitting(after.trim_end(), &loaded, make)?;
        self.tell(message).await
    }

    /// Opens a text in the editor, which has the terminal meanwhile.
    async fn in_editor(&mut self, text: &str) -> Result<String> {
        let file = std::env::temp_dir().join(format!("longhaul-{}-{}.json", self.run, std::process::id()));
        std::fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
        self.painter.clear(terminal::size().0);
        self.terminal = None;
        let edited = {
            let file = file.clone();
            tokio::task::spawn_blocking(move || editor(&file)).await?
        };
        let (terminal, keys) = Terminal::take();
        (self.terminal, self.keys) = (Some(terminal), keys);
        let text = std::fs::read_to_string(&file).context("what was edited cannot be read")?;
        // A leftover file does no harm.
        let _ = std::fs::remove_file(&file);
        edited.map(|()| text)
    }
}

/// A line without colours, in the dim tone.
fn dim(line: &str) -> Line {
    Line::of(Tone::Dim, &anstream::adapter::strip_str(line).to_string())
}

/// Updates the times only.
fn pass(seen: &mut Seen, now: i64) {
    let run = &mut seen.run;
    if run.ended_at.is_none() {
        let passed = (now - run.started_at).max(0) - run.duration_ms;
        run.duration_ms += passed;
        age(&mut seen.steps, passed);
    }
}

fn age(steps: &mut [view::StepView], passed: i64) {
    for step in steps.iter_mut().filter(|step| step.ended_at.is_none()) {
        step.duration_ms += passed;
        age(&mut step.steps, passed);
    }
}

/// The steps whose agent is running, each with the number of its attempt.
fn at_work(steps: &[view::StepView], found: &mut Vec<(StepPath, u32)>) {
    for step in steps {
        if step.agent.is_some() {
            found.push((step.path.clone(), step.attempts));
        }
        at_work(&step.steps, found);
    }
}

/// The last entries of a transcript.
fn tail(file: &Path) -> Vec<longhaul_agents::contract::TranscriptEntry> {
    use std::io::{Read, Seek, SeekFrom};
    const BYTES: u64 = 8 << 10;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
        let mut bytes = Vec::new();
        file.take(BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    // The first line may be cut off; then it is not valid JSON and is skipped.
    String::from_utf8_lossy(&bytes).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn editor(file: &Path) -> Result<()> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let status = Command::new("sh").args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(file).status()?;
    if !status.success() {
        bail!("`{editor}` ended with {status}; nothing was answered");
    }
    Ok(())
}
