// First messages of topics, as a producer and a consumer in JavaScript send and read them, each with a client of its own.
//
//     node round_trips.cjs URL FOLDER      in a folder whose node_modules has what package.json asks for
//
// FOLDER/cases.json: [{url, language, conf, topic, order, message or null}], a message as bytes in base64: one that
// another client has sent, to be read first. Prints a line of JSON per case: {message, read, warned, failed}.
// FOLDER/bazaar.binpb has the descriptors of protos/bazaar.

'use strict';
const fs = require('node:fs');
const path = require('node:path');

const { anotherClient, confluent, folder, installed, plain } = require('./common.cjs');

const { createFileRegistry, createMutableRegistry, fromBinary, fromJson, toJson } = installed('@bufbuild/protobuf');
const { FileDescriptorSetSchema } = installed('@bufbuild/protobuf/wkt');

const POINT = 'bazaar.geo.Point';
const bazaar = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, fs.readFileSync(path.join(folder, 'bazaar.binpb'))),
);
const registry = createMutableRegistry(...bazaar);

const asItIs = (order) => order;
const LANGUAGES = {
  AVRO: { Writer: confluent.AvroSerializer, Reader: confluent.AvroDeserializer, made: asItIs, shown: plain },
  JSON: { Writer: confluent.JsonSerializer, Reader: confluent.JsonDeserializer, made: asItIs, shown: plain },
  PROTOBUF: {
    Writer: confluent.ProtobufSerializer,
    Reader: confluent.ProtobufDeserializer,
    made: (order) => fromJson(bazaar.getMessage(POINT), order, { registry }),
    shown: (message) => toJson(bazaar.getMessage(POINT), message, { registry }),
  },
};

const warnings = [];
for (const level of ['warn', 'error']) {
  console[level] = (...words) => warnings.push(words.join(' '));
}

async function told({ url, language, conf, topic, order, message }) {
  const { Writer, Reader, made, shown } = LANGUAGES[language];
  const { VALUE } = confluent.SerdeType;
  const read = [];
  const consume = async (bytes) => {
    read.push(shown(await new Reader(anotherClient(url), VALUE, {}).deserialize(topic, bytes)));
  };
  if (message !== null) {
    await consume(Buffer.from(message, 'base64'));
  }
  const all = language === 'PROTOBUF' ? { registry, ...conf } : conf;
  const sent = await new Writer(anotherClient(url), VALUE, all).serialize(topic, made(order));
  await consume(sent);
  return { message: sent.toString('base64'), read };
}

async function main() {
  const cases = JSON.parse(fs.readFileSync(path.join(folder, 'cases.json'), 'utf8'));
  for (const each of cases) {
    const failed = (error) => ({ failed: error.stack });
    const line = await told(each).then((found) => ({ ...found, failed: null }), failed);
    console.log(JSON.stringify({ ...line, warned: warnings.splice(0) }));
  }
}

main().then(() => process.exit(0));
