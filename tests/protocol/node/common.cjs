// What all stories need: the client under test, others like it, and what a refusal looks like.

'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { createRequire } = require('node:module');

const [url, folder] = process.argv.slice(2);

const installed = createRequire(path.join(process.cwd(), 'stories.cjs'));
const confluent = installed('@confluentinc/schemaregistry');

const anotherClient = (base = url) => new confluent.SchemaRegistryClient({ baseURLs: [base], maxRetries: 0 });
const idIn = (message) => message.readInt32BE(1);
const plain = (read) => JSON.parse(JSON.stringify(read));

async function refused(promise, status, number, words) {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof confluent.RestError, `a RestError, not ${error}`);
    assert.equal(error.status, status);
    assert.equal(error.errorCode, number);
    assert.ok(error.message.includes(words), `'${error.message}' has '${words}' in it`);
    return true;
  });
}

// Letters are messages that one client has written and another one reads:
// [{name, language, topic, type, json, message}], the message as bytes in base64.
const outgoing = [];
const lettersFromPython = (language) =>
  JSON.parse(fs.readFileSync(path.join(folder, 'from_python.json'), 'utf8'))
    .filter((letter) => letter.language === language);

function post(letter, message) {
  outgoing.push({ ...letter, message: message.toString('base64') });
  fs.writeFileSync(path.join(folder, 'from_javascript.json'), JSON.stringify(outgoing));
}

module.exports = { anotherClient, confluent, folder, idIn, installed, lettersFromPython, plain, post, refused, url };
