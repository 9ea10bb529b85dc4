// Protobuf with Confluent's JavaScript client: messages of protos/bazaar, whose descriptors protoc has written.

'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');

const { anotherClient, confluent, folder, idIn, installed, lettersFromPython, post, refused } = require('./common.cjs');

const { ProtobufDeserializer, ProtobufSerializer, SerdeType } = confluent;
const { createFileRegistry, createMutableRegistry, fromBinary, fromJson, toJson } = installed('@bufbuild/protobuf');
const { FileDescriptorSetSchema } = installed('@bufbuild/protobuf/wkt');

const bazaar = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, fs.readFileSync(path.join(folder, 'bazaar.binpb'))),
);
const registry = createMutableRegistry(...bazaar);

const TRIP = 'syntax = "proto3"; package trips; message Trip { int32 id = 1; string to = 2; }';
const NOTED_TRIP = 'syntax = "proto3"; package trips; message Trip { int32 id = 1; string to = 2; string note = 3; }';
const BROKEN_TRIP = 'syntax = "proto3"; package trips; message Trip { string id = 1; string to = 2; }';
const TURNED_TRIP = 'syntax = "proto3"; package trips; message Trip { string to = 2; int32 id = 1; }';

const protobuf = (schema, parts = {}) => ({ schemaType: 'PROTOBUF', schema, ...parts });
const made = (type, json) => fromJson(bazaar.getMessage(type), json, { registry });
const shown = (message) => toJson(bazaar.getMessage(message.$typeName), message, { registry });

const ADDRESS = { lines: ['1 Long Lane'], where: { latitude: 51.5 }, kind: 'WORK', floor: 0 };
const ORDER = {
  number: '7', customer: 'Ada ✓', door: { latitude: 51.5 }, note: '', voucher: 'V',
  lines: { tea: { count: 3, cents: '18446744073709551615' } }, history: { '-1': 'LOST' },
  route: [{ longitude: 1.5 }], placed: '2024-02-29T12:00:00Z', replaces: { card: { number: '4', expires: { year: 26 } } },
};

function produce(client, topic, message, conf = {}) {
  const all = { autoRegisterSchemas: true, registry, ...conf };
  return new ProtobufSerializer(client, SerdeType.VALUE, all).serialize(topic, message);
}

function consume(client, topic, message) {
  return new ProtobufDeserializer(client, SerdeType.VALUE, {}).deserialize(topic, message);
}

const stories = {
  async 'protobuf: what a producer wrote a consumer elsewhere reads'(client, topic) {
    const order = made('bazaar.Order', ORDER);
    const message = await produce(client, topic, order);
    assert.deepEqual(shown(await consume(anotherClient(), topic, message)), shown(order));
    const told = await anotherClient().getBySubjectAndId(`${topic}-value`, idIn(message));
    assert.deepEqual(told.references.map((reference) => reference.name), ['bazaar/geo.proto']);
  },

  async 'protobuf: a message is found by its path'(client, topic) {
    const written = [
      ['bazaar.Cancellation', { number: '1', before: 'LOST' }], ['bazaar.Order.Card', { number: '4' }],
      ['bazaar.Order.Card.Expiry', { month: 12 }], ['bazaar.geo.Point', { latitude: 1.5 }],
    ];
    for (const [number, [type, json]] of written.entries()) {
      const message = await produce(client, `${topic}.${number}`, made(type, json));
      const read = await consume(anotherClient(), `${topic}.${number}`, message);
      assert.equal(read.$typeName, type);
      assert.deepEqual(shown(read), json);
    }
  },

  async 'protobuf: the same class has the same id wherever it is sent from'(client, topic) {
    const order = made('bazaar.Order', ORDER);
    for (const normalizeSchemas of [false, true]) {
      const mine = `${topic}.${normalizeSchemas}`; // with clients of their own, whose caches do not tell the two apart
      const first = await produce(anotherClient(), mine, order, { normalizeSchemas });
      assert.deepEqual(await produce(anotherClient(), mine, order, { normalizeSchemas }), first);
      const conf = { normalizeSchemas, autoRegisterSchemas: false };
      assert.deepEqual(await produce(anotherClient(), mine, order, conf), first);
      assert.deepEqual(await client.getAllVersions(`${mine}-value`), [1]);
    }
  },

  async 'protobuf: a producer uses the latest version'(client, topic) {
    const text = 'syntax = "proto3"; package bazaar.geo; message Point { double latitude = 1; double longitude = 2; }';
    const id = await client.register(`${topic}-value`, protobuf(text));
    const conf = { autoRegisterSchemas: false, useLatestVersion: true };
    const message = await produce(client, topic, made('bazaar.geo.Point', { latitude: 1.5 }), conf);
    assert.equal(idIn(message), id);
    assert.deepEqual(shown(await consume(anotherClient(), topic, message)), { latitude: 1.5 });
  },

  async 'protobuf: text with imports is read through its references'(client, topic) {
    const geo = 'syntax = "proto3"; package bazaar.geo; message Point { double latitude = 1; double longitude = 2; }';
    const text = `syntax = "proto3"; package bazaar; import "geo.proto"; import "google/protobuf/wrappers.proto";
      message Address { repeated string lines = 1; geo.Point where = 2; Kind kind = 3; enum Kind { HOME = 0; WORK = 1; }
        google.protobuf.UInt32Value floor = 4; map<string, geo.Point> more = 5; }`;
    await client.register(`${topic}.geo`, protobuf(geo));
    const references = [{ name: 'geo.proto', subject: `${topic}.geo`, version: 1 }];
    await client.register(`${topic}-value`, protobuf(text, { references }));
    const conf = { autoRegisterSchemas: false, useLatestVersion: true };
    const message = await produce(client, topic, made('bazaar.Address', ADDRESS), conf);
    assert.deepEqual(shown(await consume(anotherClient(), topic, message)), ADDRESS);
  },

  async 'protobuf: a change that old messages cannot survive is refused'(client, topic) {
    const subject = `${topic}-value`;
    await client.register(subject, protobuf(TRIP));
    await refused(client.register(subject, protobuf(BROKEN_TRIP)), 409, 40901, 'FIELD_SCALAR_KIND_CHANGED');
    assert.equal(await client.testSubjectCompatibility(subject, protobuf(BROKEN_TRIP)), false);
    assert.equal(await client.testSubjectCompatibility(subject, protobuf(NOTED_TRIP)), true);
    await client.register(subject, protobuf(NOTED_TRIP));
    assert.deepEqual(await client.getAllVersions(subject), [1, 2]);
  },

  async 'protobuf: normalized schemas are equal whatever the order of their fields'(client, topic) {
    const subject = `${topic}-value`;
    const id = await client.register(subject, protobuf(TRIP), true);
    assert.equal(await anotherClient().register(subject, protobuf(TURNED_TRIP), true), id);
    assert.deepEqual(await client.getAllVersions(subject), [1]);
  },

  async 'protobuf: letters of the python client are read'(_) {
    const letters = lettersFromPython('PROTOBUF');
    assert.ok(letters.length > 0);
    // Not that of the tour: of imports of imports this client asks for the text, and then reads it as a descriptor.
    for (const letter of letters.filter((letter) => letter.name !== 'tour')) {
      const read = await consume(anotherClient(), letter.topic, Buffer.from(letter.message, 'base64'));
      assert.equal(read.$typeName, letter.type);
      assert.deepEqual(shown(read), letter.json, letter.name);
    }
  },

  async 'protobuf: letters to the python client are written'(client, topic) {
    for (const { name, type, json } of lettersFromPython('PROTOBUF')) {
      const mine = `${topic}.${name.replaceAll(' ', '_')}`;
      const message = await produce(client, mine, made(type, json));
      post({ name, language: 'PROTOBUF', topic: mine, type, json }, message);
    }
  },
};

module.exports = { stories };
