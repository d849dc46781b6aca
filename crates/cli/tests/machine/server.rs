//! A server that returns and records each request; `/away?to=ADDRESS` redirects.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| answer(stream, &kept)));
        Self { address, asked }
    }

    pub(crate) fn asked(&self) -> String {
        self.asked.lock().unwrap().join("\n\n")
    }
}

fn answer(mut stream: TcpStream, kept: &Mutex<Vec<String>>) {
    let Some(request) = read(&stream) else { return };
    kept.lock().unwrap().push(request.clone());
    let path = request.split(' ').nth(1).unwrap_or_default();
    let response = match path.split_once("to=") {
        Some((_, to)) => format!("HTTP/1.1 302 Found\r\nlocation: http://{to}/landed\r\ncontent-length: 0\r\n\r\n"),
        None => {
            let encoded: String = request.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let text = format!("{request}\n{encoded}");
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}", text.len())
        }
    };
    let _ = stream.write_all(response.as_bytes());
}

fn read(stream: &TcpStream) -> Option<String> {
    let (mut reader, mut text, mut length) = (BufReader::new(stream), String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        text.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(text + &String::from_utf8_lossy(&body))
}
