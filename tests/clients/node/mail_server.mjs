// An SMTP server that prints each mail as mailparser reads it: a line of JSON per mail, after a
// line with its port. It ends with its standard input.

import { createHash } from "node:crypto";
import { simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";

const MAX_BYTES = 64 * 1024 * 1024;

const addresses = (header) => (header ? header.value.map((each) => each.address) : []);

async function read(stream, session) {
  const mail = await simpleParser(stream, {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
    maxHtmlLengthToParse: MAX_BYTES,
  });
  return {
    envelope: session.envelope.rcptTo.map((each) => each.address),
    headers: mail.headerLines.map((each) => each.key),
    subject: mail.subject ?? "",
    message_id: mail.messageId,
    date: mail.date?.toISOString(),
    to: addresses(mail.to),
    cc: addresses(mail.cc),
    bcc: addresses(mail.bcc),
    reply_to: addresses(mail.replyTo),
    text: mail.text ?? null,
    html: mail.html || null,
    attachments: mail.attachments.map((each) => ({
      filename: each.filename,
      content_type: each.contentType,
      disposition: each.contentDisposition,
      sha256: createHash("sha256").update(each.content).digest("hex"),
    })),
  };
}

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  size: MAX_BYTES,
  onData(stream, session, done) {
    read(stream, session).then(
      (seen) => {
        process.stdout.write(`${JSON.stringify(seen)}\n`);
        done();
      },
      (error) => done(error),
    );
  },
});

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${server.server.address().port}\n`);
});
process.stdin.resume();
process.stdin.on("end", () => server.close(() => process.exit(0)));
