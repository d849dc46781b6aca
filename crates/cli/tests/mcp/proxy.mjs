// Passes requests on to a server with its token: `node proxy.mjs URL TOKEN`. The first line is its own address.
import http from "node:http";

const [url, token] = process.argv.slice(2);
const server = new URL(url);

const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  const { hostname: host, port } = server;
  const onward = http.request({ host, port, path: request.url, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    // Events come one by one, the first perhaps much later than the headers.
    response.flushHeaders();
    answer.pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  request.pipe(onward);
});
proxy.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${proxy.address().port}/mcp`));
