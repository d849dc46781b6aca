//! The parts of a terminal that the tree uses: letters, line breaks, cursor up, and erasing.

use unicode_width::UnicodeWidthChar;

/// The rows of a terminal, including those that have scrolled away.
pub(crate) struct Screen {
    columns: usize,
    height: usize,
    rows: Vec<Vec<char>>,
    at: (usize, usize),
}

impl Screen {
    pub(crate) fn new(columns: usize, height: usize) -> Self {
        Self { columns, height, rows: vec![Vec::new()], at: (0, 0) }
    }

    pub(crate) fn text(&self) -> String {
        let line =
            |row: &Vec<char>| row.iter().filter(|letter| **letter != '\0').collect::<String>().trim_end().to_owned();
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn take(&mut self, text: &str) {
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\r' => self.at.1 = 0,
                '\n' => self.down(),
                '\x1b' => {
                    assert_eq!(letters.next(), Some('['), "only these sequences are ours");
                    let mut number = String::new();
                    let last = letters.by_ref().find(|letter| {
                        number.push(*letter);
                        letter.is_ascii_alphabetic()
                    });
                    number.pop();
                    self.obey(last, &number);
                }
                letter => self.put(letter),
            }
        }
    }

    fn obey(&mut self, last: Option<char>, number: &str) {
        match last {
            Some('A') => {
                let top = self.rows.len().saturating_sub(self.height);
                self.at.0 = self.at.0.saturating_sub(number.parse().unwrap_or(1)).max(top);
            }
            Some('K') => self.row().truncate_at(),
            Some('J') => {
                self.row().truncate_at();
                let below = self.at.0 + 1;
                self.rows.truncate(below);
            }
            // Colours, the look of the cursor, and synchronised output.
            Some('m' | 'h' | 'l') => {}
            other => panic!("{other:?} is not ours"),
        }
    }

    fn row(&mut self) -> Cut<'_> {
        Cut(&mut self.rows[self.at.0], self.at.1)
    }

    fn down(&mut self) {
        self.at.0 += 1;
        if self.at.0 == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }

    fn put(&mut self, letter: char) {
        let width = letter.width().unwrap_or(0);
        if self.at.1 + width > self.columns {
            self.down();
            self.at.1 = 0;
        }
        let row = &mut self.rows[self.at.0];
        row.resize(row.len().max(self.at.1 + width), ' ');
        row[self.at.1] = letter;
        // The second half of a wide letter is empty.
        (1..width).for_each(|next| row[self.at.1 + next] = '\0');
        self.at.1 += width;
    }
}

struct Cut<'r>(&'r mut Vec<char>, usize);

impl Cut<'_> {
    fn truncate_at(self) {
        self.0.truncate(self.1);
    }
}
