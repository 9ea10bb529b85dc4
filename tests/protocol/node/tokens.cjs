// Confluent's JavaScript client with bearer tokens.
//
//     node tokens.cjs URL TOKEN ISSUER SECRET      in a folder whose node_modules has what package.json asks for
//
// Prints what it read of what it registered with each source of credentials, and what a bad token is told.

'use strict';
const path = require('node:path');
const { createRequire } = require('node:module');

const [url, token, issuer, secret] = process.argv.slice(2);
const installed = createRequire(path.join(process.cwd(), 'tokens.cjs'));
const { SchemaRegistryClient } = installed('@confluentinc/schemaregistry');

const ORDER = { type: 'record', name: 'Order', fields: [{ name: 'number', type: 'int' }] };
const BESIDE = { logicalCluster: 'lsrc-1', identityPoolId: 'pool-1' };

const client = (bearerAuthCredentials) => new SchemaRegistryClient({
  baseURLs: [url],
  bearerAuthCredentials: { ...BESIDE, ...bearerAuthCredentials },
  maxRetries: 0,
});

async function use(bearer, subject) {
  const id = await client(bearer).register(subject, { schemaType: 'AVRO', schema: JSON.stringify(ORDER) });
  return JSON.parse((await client(bearer).getBySubjectAndId(subject, id)).schema).name;
}

async function main() {
  const fixed = await use({ credentialsSource: 'STATIC_TOKEN', token }, 'orders-node-static');
  const asked = await use({
    credentialsSource: 'OAUTHBEARER',
    issuerEndpointUrl: `${issuer}/token`,
    clientId: 'shop',
    clientSecret: secret,
    scope: 'registry',
  }, 'orders-node-oauth');
  const bad = { credentialsSource: 'STATIC_TOKEN', token: `${token}A` };
  const refused = await client(bad).getAllSubjects().then(() => 'nothing', (error) => error.status);
  console.log(JSON.stringify({ fixed, asked, refused }));
}

main().then(() => process.exit(0));
