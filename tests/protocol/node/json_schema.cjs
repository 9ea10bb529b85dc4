// JSON Schema with Confluent's JavaScript client.

'use strict';
const assert = require('node:assert/strict');

const { anotherClient, confluent, idIn, lettersFromPython, plain, post, refused } = require('./common.cjs');

const { JsonDeserializer, JsonSerializer, SerdeType } = confluent;

const ORDER = {
  $schema: 'http://json-schema.org/draft-07/schema#', title: 'Order', type: 'object',
  properties: { number: { type: 'integer' }, customer: { type: 'string' } }, required: ['number'],
  additionalProperties: false,
};
const MODERN_ORDER = { ...ORDER, $schema: 'https://json-schema.org/draft/2020-12/schema' };
const NOTED_ORDER = { ...ORDER, properties: { ...ORDER.properties, note: { type: 'string' } } };
const BROKEN_ORDER = { ...ORDER, required: ['number', 'customer'] };
const ADA = { number: 7, customer: 'Ada ✓' };

const json = (tree, parts = {}) => ({ schemaType: 'JSON', schema: JSON.stringify(tree), ...parts });

function produce(client, topic, message, conf = {}) {
  const all = { useLatestVersion: true, validate: true, ...conf };
  return new JsonSerializer(client, SerdeType.VALUE, all).serialize(topic, message);
}

function consume(client, topic, message) {
  return new JsonDeserializer(client, SerdeType.VALUE, { validate: true }).deserialize(topic, message);
}

// Two depths of references, one document referred to from both.
async function delivery(client, topic) {
  const reference = (name) => ({ name: `${name}.json`, subject: `${topic}.${name}`, version: 1 });
  const country = { type: 'string', pattern: '^[A-Z]{2}$' };
  const address = { type: 'object', properties: { street: { type: 'string' }, country: { $ref: 'country.json' } } };
  const tree = {
    type: 'object', properties: { to: { $ref: 'address.json' }, from: { $ref: 'country.json' } },
  };
  await client.register(`${topic}.country`, json(country));
  await client.register(`${topic}.address`, json(address, { references: [reference('country')] }));
  return json(tree, { references: [reference('address'), reference('country')] });
}

const stories = {
  async 'json: what a producer wrote a consumer elsewhere reads'(client, topic) {
    for (const [number, tree] of [ORDER, MODERN_ORDER].entries()) {
      const id = await client.register(`${topic}.${number}-value`, json(tree));
      const message = await produce(client, `${topic}.${number}`, ADA);
      assert.equal(idIn(message), id);
      assert.deepEqual(plain(await consume(anotherClient(), `${topic}.${number}`, message)), ADA);
    }
  },

  async 'json: a producer registers a schema that it draws from its message'(client, topic) {
    const message = await produce(client, topic, ADA, { useLatestVersion: false, autoRegisterSchemas: true });
    assert.deepEqual(plain(await consume(anotherClient(), topic, message)), ADA);
    assert.equal((await client.getLatestSchemaMetadata(`${topic}-value`)).schemaType, 'JSON');
  },

  async 'json: a message that the schema does not allow is not sent'(client, topic) {
    await client.register(`${topic}-value`, json(ORDER));
    await assert.rejects(produce(client, topic, { number: 'seven' }), /Invalid message/);
  },

  async 'json: a schema made of others is written and read through its references'(client, topic) {
    const schema = await delivery(client, topic);
    const id = await client.register(`${topic}-value`, schema);
    const parcel = { to: { street: 'Long Lane', country: 'GB' }, from: 'FR' };
    const message = await produce(client, topic, parcel);
    assert.equal(idIn(message), id);
    assert.deepEqual(plain(await consume(anotherClient(), topic, message)), parcel);
    await assert.rejects(produce(client, topic, { to: { country: 'gb' } }), /Invalid message/);
    await refused(client.deleteSubjectVersion(`${topic}.country`, 1), 422, 42206, 'One or more references exist');
  },

  async 'json: a change that old messages cannot survive is refused'(client, topic) {
    const subject = `${topic}-value`;
    await client.register(subject, json(ORDER));
    await refused(client.register(subject, json(BROKEN_ORDER)), 409, 40901, 'REQUIRED_ATTRIBUTE_ADDED');
    assert.equal(await client.testSubjectCompatibility(subject, json(BROKEN_ORDER)), false);
    assert.equal(await client.testSubjectCompatibility(subject, json(NOTED_ORDER)), true);
    await client.register(subject, json(NOTED_ORDER));
    assert.deepEqual(await client.getAllVersions(subject), [1, 2]);
  },

  async 'json: normalized schemas are equal whatever the order of their properties'(client, topic) {
    const subject = `${topic}-value`;
    const turned = Object.fromEntries(Object.entries(ORDER).reverse());
    const id = await client.register(subject, json(ORDER), true);
    assert.equal(await anotherClient().register(subject, json(turned), true), id);
    assert.equal(await anotherClient().getId(subject, json(turned), true), id);
    assert.deepEqual(await client.getAllVersions(subject), [1]);
  },

  async 'json: letters of the python client are read'(_) {
    const letters = lettersFromPython('JSON');
    assert.ok(letters.length > 0);
    for (const letter of letters) {
      const read = await consume(anotherClient(), letter.topic, Buffer.from(letter.message, 'base64'));
      assert.deepEqual(plain(read), letter.json, letter.name);
    }
  },

  async 'json: letters to the python client are written'(client, topic) {
    await client.register(`${topic}-value`, await delivery(client, topic));
    const parcel = { to: { street: 'Long Lane', country: 'GB' }, from: 'FR' };
    post({ name: 'delivery', language: 'JSON', topic, json: parcel }, await produce(client, topic, parcel));
  },
};

module.exports = { stories };
