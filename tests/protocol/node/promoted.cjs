// Registers, evolves, writes, reads and looks up without a pause, while the regions behind its URLs change places.
//
//     node promoted.cjs URL,URL [NAME:SECRET]      in a folder whose node_modules has what package.json asks for
//
// Prints a line of JSON for each round, {id, schema}, or {failed, code, asked, at}; {stale} where the latest version is
// older than the one that was just registered, and is asked again. It ends when its input does.

'use strict';
const assert = require('node:assert/strict');
const path = require('node:path');
const { createRequire } = require('node:module');

const confluent = createRequire(path.join(process.cwd(), 'promoted.cjs'))('@confluentinc/schemaregistry');
const [urls, userInfo] = process.argv.slice(2);
const { AvroDeserializer, AvroSerializer, SerdeType } = confluent;
const conf = { baseURLs: urls.split(','), maxRetries: 0 };
if (userInfo) conf.basicAuthCredentials = { credentialsSource: 'USER_INFO', userInfo };
// Of its own for each question: it remembers nothing.
let asked = 0;
const fresh = () => {
  asked = Date.now();
  return new confluent.SchemaRegistryClient(conf);
};

let over = false;
process.stdin.on('end', () => { over = true; }).resume();

function record(fields) {
  const listed = Array.from({ length: fields }, (_, at) => ({ name: `f${at}`, type: 'int', default: 0 }));
  return JSON.stringify({ type: 'record', name: 'InJavaScript', fields: listed });
}

async function round(fields) {
  const info = { schemaType: 'AVRO', schema: record(fields) };
  const sent = Object.fromEntries(Array.from({ length: fields }, (_, at) => [`f${at}`, at]));
  const id = await fresh().register('javascript-value', info);
  const message = await new AvroSerializer(fresh(), SerdeType.VALUE, { useSchemaId: id }).serialize('javascript', sent);
  const decoded = await new AvroDeserializer(fresh(), SerdeType.VALUE, {}).deserialize('javascript', message);
  const read = await fresh().getBySubjectAndId('javascript-value', id);
  const version = await fresh().getVersion('javascript-value', info);
  let latest = await fresh().getLatestSchemaMetadata('javascript-value');
  while (latest.version < version) {
    console.log(JSON.stringify({ stale: latest.version }));
    latest = await fresh().getLatestSchemaMetadata('javascript-value');
  }
  assert.equal(message.readInt32BE(1), id);
  assert.deepEqual({ ...decoded }, sent);
  assert.equal(read.schema, info.schema);
  // What a region that rejoins brings may be later.
  assert.ok(latest.version > version || latest.id === id, JSON.stringify(latest));
  return { id, schema: info.schema };
}

async function main() {
  for (let fields = 1; !over;) {
    try {
      console.log(JSON.stringify(await round(fields)));
      fields += 1;
    } catch (error) {
      const code = error.errorCode ?? error.code ?? null;
      console.log(JSON.stringify({ failed: String(error), code, asked, at: Date.now() }));
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  }
}

main();
