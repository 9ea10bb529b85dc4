// Confluent's JavaScript client over TLS: it trusts an authority by its file, and shows a key.
//
//     node secured.cjs URL AUTHORITY.pem NAME:SECRET      in a folder whose node_modules has what package.json asks for
//
// Prints what a reader found of what a writer registered, and what a client is told that does not trust the authority.

'use strict';
const fs = require('node:fs');
const https = require('node:https');
const path = require('node:path');
const { createRequire } = require('node:module');

const [url, authority, userInfo] = process.argv.slice(2);
const installed = createRequire(path.join(process.cwd(), 'secured.cjs'));
const { SchemaRegistryClient } = installed('@confluentinc/schemaregistry');

const ORDER = { type: 'record', name: 'Order', fields: [{ name: 'number', type: 'int' }] };

const client = (createAxiosDefaults) => new SchemaRegistryClient({
  baseURLs: [url],
  basicAuthCredentials: { credentialsSource: 'USER_INFO', userInfo },
  createAxiosDefaults,
  maxRetries: 0,
});

async function main() {
  const trusting = { httpsAgent: new https.Agent({ ca: fs.readFileSync(authority), keepAlive: true }) };
  const id = await client(trusting).register('secured-value', { schemaType: 'AVRO', schema: JSON.stringify(ORDER) });
  const read = await client(trusting).getBySubjectAndId('secured-value', id);
  const refused = await client({}).getAllSubjects().then(() => 'nothing', (error) => error.code);
  console.log(JSON.stringify({ read: JSON.parse(read.schema).name, refused }));
}

main().then(() => process.exit(0));
