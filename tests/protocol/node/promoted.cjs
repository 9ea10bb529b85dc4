// Registers, evolves and reads without a pause, while the regions behind its URLs change places.
//
//     node promoted.cjs URL,URL      in a folder whose node_modules has what package.json asks for
//
// Prints a line of JSON for each round, {id, schema}, or {failed, code, at}, and ends when its input does.

'use strict';
const path = require('node:path');
const { createRequire } = require('node:module');

const confluent = createRequire(path.join(process.cwd(), 'promoted.cjs'))('@confluentinc/schemaregistry');
const baseURLs = process.argv[2].split(',');
const fresh = () => new confluent.SchemaRegistryClient({ baseURLs, maxRetries: 0 });

let over = false;
process.stdin.on('end', () => { over = true; }).resume();

function record(fields) {
  const listed = Array.from({ length: fields }, (_, at) => ({ name: `f${at}`, type: 'int', default: 0 }));
  return JSON.stringify({ type: 'record', name: 'Evolving', fields: listed });
}

async function round(fields) {
  const schema = record(fields);
  const id = await fresh().register('javascript-value', { schemaType: 'AVRO', schema });
  const read = await fresh().getBySubjectAndId('javascript-value', id);
  const latest = await fresh().getLatestSchemaMetadata('javascript-value');
  if (read.schema !== schema || latest.id !== id) {
    throw new Error(`wrong: id ${id} is ${read.schema}, and the latest id is ${latest.id}`);
  }
  return { id, schema };
}

async function main() {
  for (let fields = 1; !over;) {
    try {
      console.log(JSON.stringify(await round(fields)));
      fields += 1;
    } catch (error) {
      console.log(JSON.stringify({ failed: String(error), code: error.errorCode ?? error.code ?? null, at: Date.now() }));
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  }
}

main();
