// What clients that never met encrypt for each other, told case by case. Python has registered the schemas with their
// rules; this program knows the address of the registry and, where a case has one, the secret.
//
//     node encrypted.cjs URL FOLDER      in a folder whose node_modules has what package.json asks for
//
// FOLDER/cases.json: [{topic, secret or null, ahead_ms, order, message or null}], a message as bytes in base64. One with
// a message is decrypted, one without is encrypted. Prints a line of JSON per case: {order, message, failed}.

'use strict';
const fs = require('node:fs');
const path = require('node:path');

const { anotherClient, confluent, folder, plain } = require('./common.cjs');

const {
  AvroDeserializer, AvroSerializer, EncryptionExecutor, FieldEncryptionExecutor, LocalKmsDriver, RuleRegistry, SerdeType,
} = confluent;

LocalKmsDriver.register();

function rules(aheadMs) {
  const clock = { now: () => Date.now() + aheadMs };
  const registry = new RuleRegistry();
  registry.registerExecutor(new FieldEncryptionExecutor(clock));
  registry.registerExecutor(new EncryptionExecutor(clock));
  return registry;
}

async function told({ topic, secret, ahead_ms: aheadMs, order, message }) {
  const conf = { useLatestVersion: true, ruleConfig: secret === null ? {} : { secret } };
  const [client, registry] = [anotherClient(), rules(aheadMs)];
  if (message === null) {
    const sent = await new AvroSerializer(client, SerdeType.VALUE, conf, registry).serialize(topic, order);
    return { order, message: sent.toString('base64') };
  }
  const reader = new AvroDeserializer(client, SerdeType.VALUE, conf, registry);
  return { order: plain(await reader.deserialize(topic, Buffer.from(message, 'base64'))), message };
}

async function main() {
  const cases = JSON.parse(fs.readFileSync(path.join(folder, 'cases.json'), 'utf8'));
  for (const each of cases) {
    const line = await told(each).then((found) => ({ ...found, failed: null }), (error) => ({ failed: error.stack }));
    console.log(JSON.stringify(line));
  }
}

main().then(() => process.exit(0));
