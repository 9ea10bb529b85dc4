// What a team does with Confluent's JavaScript client, told one story after the other: the registry, and Avro. The
// stories of the other languages stand beside this file.
//
//     node stories.cjs URL FOLDER       in a folder whose node_modules has what package.json asks for
//
// FOLDER holds what is exchanged with other clients: bazaar.binpb (descriptors), from_python.json, from_javascript.json.
// Prints a line of JSON per story: {"story": …, "failed": null or what went wrong}.

'use strict';
const assert = require('node:assert/strict');

const { anotherClient, confluent, idIn, plain, refused, url } = require('./common.cjs');

const { AvroDeserializer, AvroSerializer, Compatibility, HeaderSchemaIdSerializer, SerdeType } = confluent;

const ORDER = {
  type: 'record', name: 'Order', namespace: 'shop',
  fields: [{ name: 'number', type: 'int' }, { name: 'customer', type: 'string' }],
};
const NOTED_ORDER = { ...ORDER, fields: [...ORDER.fields, { name: 'note', type: 'string', default: 'none' }] };
const BROKEN_ORDER = { ...ORDER, fields: [{ name: 'number', type: 'string' }, { name: 'customer', type: 'string' }] };
const CUSTOMER = { type: 'record', name: 'Customer', namespace: 'shop', fields: [{ name: 'name', type: 'string' }] };
const INVOICE = {
  type: 'record', name: 'Invoice', namespace: 'shop', fields: [{ name: 'payer', type: 'shop.Customer' }],
};
const ADA = { number: 7, customer: 'Ada' };

const avro = (tree, parts = {}) => ({ schemaType: 'AVRO', schema: JSON.stringify(tree), ...parts });

function produce(client, topic, message, conf = {}) {
  return new AvroSerializer(client, SerdeType.VALUE, { useLatestVersion: true, ...conf }).serialize(topic, message);
}

function consume(client, topic, message) {
  return new AvroDeserializer(client, SerdeType.VALUE, {}).deserialize(topic, message);
}

const stories = {
  async 'what a producer wrote a consumer elsewhere reads'(client, topic) {
    const id = await client.register(`${topic}-value`, avro(ORDER));
    const message = await produce(client, topic, ADA);
    assert.equal(idIn(message), id);
    assert.deepEqual(plain(await consume(anotherClient(), topic, message)), ADA);
  },

  async 'a producer registers the schema of what it sends'(client, topic) {
    const message = await produce(client, topic, ADA, { useLatestVersion: false, autoRegisterSchemas: true });
    assert.deepEqual(plain(await consume(anotherClient(), topic, message)), ADA);
    assert.deepEqual(await client.getAllVersions(`${topic}-value`), [1]);
  },

  async 'a producer may be pinned to an id'(client, topic) {
    const oldest = await client.register(`${topic}-value`, avro(ORDER));
    await client.register(`${topic}-value`, avro(NOTED_ORDER));
    const message = await produce(client, topic, ADA, { useLatestVersion: false, useSchemaId: oldest });
    assert.equal(idIn(message), oldest);
  },

  async 'a producer may choose the latest version of its kind'(client, topic) {
    await client.updateConfig(`${topic}-value`, { compatibility: Compatibility.None ?? 'NONE' });
    const first = await client.register(`${topic}-value`, avro(ORDER, { metadata: { properties: { line: '1' } } }));
    await client.register(`${topic}-value`, avro(BROKEN_ORDER, { metadata: { properties: { line: '2' } } }));
    const conf = { useLatestVersion: false, useLatestWithMetadata: { line: '1' } };
    assert.equal(idIn(await produce(client, topic, ADA, conf)), first);
  },

  async 'a guid in a header tells as much as an id in the payload'(client, topic) {
    await client.register(`${topic}-value`, avro(ORDER));
    const headers = {};
    const conf = { useLatestVersion: true, schemaIdSerializer: HeaderSchemaIdSerializer };
    const message = await new AvroSerializer(client, SerdeType.VALUE, conf).serialize(topic, ADA, headers);
    assert.deepEqual(Object.keys(headers), ['__value_schema_id']);
    const reader = new AvroDeserializer(anotherClient(), SerdeType.VALUE, {});
    assert.deepEqual(plain(await reader.deserialize(topic, message, headers)), ADA);
  },

  async 'a schema made of others is written and read through its references'(client, topic) {
    await client.register(`${topic}.Customer`, avro(CUSTOMER));
    const references = [{ name: 'shop.Customer', subject: `${topic}.Customer`, version: 1 }];
    const id = await client.register(`${topic}-value`, avro(INVOICE, { references }));
    const invoice = { payer: { name: 'Ada' } };
    const message = await produce(client, topic, invoice);
    assert.deepEqual(plain(await consume(anotherClient(), topic, message)), invoice);
    const told = await anotherClient().getBySubjectAndId(`${topic}-value`, id);
    assert.deepEqual(told.references, references);
    await refused(client.deleteSubjectVersion(`${topic}.Customer`, 1), 422, 42206, 'One or more references exist');
  },

  async 'a change that old messages cannot survive is refused'(client, topic) {
    await client.register(`${topic}-value`, avro(ORDER));
    await refused(client.register(`${topic}-value`, avro(BROKEN_ORDER)), 409, 40901, 'TYPE_MISMATCH');
    assert.equal(await client.testSubjectCompatibility(`${topic}-value`, avro(BROKEN_ORDER)), false);
    assert.equal(await client.testSubjectCompatibility(`${topic}-value`, avro(NOTED_ORDER)), true);
    assert.equal(await client.testCompatibility(`${topic}-value`, 1, avro(NOTED_ORDER)), true);
    assert.deepEqual(await client.getAllVersions(`${topic}-value`), [1]);
  },

  async 'the same schema keeps its id, version and guid'(client, topic) {
    const subject = `${topic}-value`;
    const registered = await client.registerFullResponse(subject, avro(ORDER));
    const again = anotherClient();
    assert.equal(await again.register(subject, avro(ORDER)), registered.id);
    assert.equal(await again.getId(subject, avro(ORDER)), registered.id);
    assert.equal(await again.getVersion(subject, avro(ORDER)), 1);
    assert.deepEqual(JSON.parse((await again.getByGuid(registered.guid)).schema), ORDER);
    assert.equal((await again.getLatestSchemaMetadata(subject)).id, registered.id);
    assert.equal((await again.getSchemaMetadata(subject, 1)).id, registered.id);
  },

  async 'normalized schemas are equal whatever the order of their properties'(client, topic) {
    const subject = `${topic}-value`;
    const id = await client.register(subject, avro({ ...ORDER, zeta: 1, alpha: 2 }), true);
    assert.equal(await anotherClient().register(subject, avro({ alpha: 2, zeta: 1, ...ORDER }), true), id);
    assert.deepEqual(await client.getAllVersions(subject), [1]);
  },

  async 'metadata and rules come back as they were sent'(client, topic) {
    const subject = `${topic}-value`;
    const metadata = { tags: { 'shop.Order.customer': ['PII'] }, properties: { owner: 'Ada' }, sensitive: ['owner'] };
    const rule = { name: 'hide', kind: 'TRANSFORM', mode: 'WRITEREAD', type: 'ENCRYPT', tags: ['PII'], disabled: false };
    const id = await client.register(subject, avro(ORDER, { metadata, ruleSet: { domainRules: [rule] } }));
    const told = await anotherClient().getBySubjectAndId(subject, id);
    assert.deepEqual(told.metadata, metadata);
    assert.deepEqual(told.ruleSet, { domainRules: [rule] });
    assert.equal((await client.getLatestWithMetadata(subject, { owner: 'Ada' })).id, id);
  },

  async 'levels and config are changed and read'(client, topic) {
    const subject = `${topic}-value`;
    assert.equal(await client.getDefaultCompatibility(), 'BACKWARD');
    assert.equal(await client.updateCompatibility(subject, Compatibility.FULL ?? 'FULL'), 'FULL');
    assert.equal(await client.getCompatibility(subject), 'FULL');
    await client.updateConfig(subject, { normalize: true, compatibilityGroup: 'line' });
    const told = await client.getConfig(subject);
    assert.deepEqual(told, { normalize: true, compatibilityLevel: 'FULL', compatibilityGroup: 'line' });
    assert.deepEqual(await client.getDefaultConfig(), { compatibilityLevel: 'BACKWARD' });
    await refused(client.getConfig(`${topic}-unknown`), 404, 40408, 'subject-level compatibility');
  },

  async 'a deleted subject is hidden, comes back, and goes for good'(client, topic) {
    const subject = `${topic}-value`;
    const id = await client.register(subject, avro(ORDER));
    assert.deepEqual(await client.deleteSubject(subject), [1]);
    assert.ok(!(await client.getAllSubjects()).includes(subject));
    assert.equal(await anotherClient().register(subject, avro(ORDER)), id);
    assert.deepEqual(await client.getAllVersions(subject), [2]);
    assert.equal(await client.deleteSubjectVersion(subject, 2), 2);
    assert.equal(await client.deleteSubjectVersion(subject, 2, true), 2);
    await refused(anotherClient().getAllVersions(subject), 404, 40401, `Subject '${subject}' not found.`);
  },

  async 'a context in the url is all that its clients see'(_, topic) {
    const client = anotherClient(`${url}/contexts/.${topic}`);
    assert.equal(await client.register('orders-value', avro(ORDER)), 1);
    assert.deepEqual(await client.getAllSubjects(), [`:.${topic}:orders-value`]);
    const message = await produce(client, 'orders', ADA);
    assert.deepEqual(plain(await consume(client, 'orders', message)), ADA);
  },

  async 'any name is a subject'(client, topic) {
    for (const name of ['a/b', 'a b', 'a:b', 'ä-ω-✓', '100%', 'a+b', 'a;b', 'a?b#c', '😀', 'a%2Fb']) {
      const subject = `${topic}/${name}`;
      const id = await client.register(subject, avro(ORDER));
      assert.equal((await anotherClient().getLatestSchemaMetadata(subject)).id, id, subject);
      assert.ok((await client.getAllSubjects()).includes(subject), subject);
    }
  },

  async 'errors reach the client with status, number and words'(client, topic) {
    const unknown = `${topic}-unknown`;
    await refused(client.getLatestSchemaMetadata(unknown), 404, 40401, `Subject '${unknown}' not found.`);
    await refused(client.getBySubjectAndId('', 2000000000), 404, 40403, 'Schema 2000000000 not found');
    await refused(client.register(unknown, avro({ type: 'recor' })), 422, 42201, 'Invalid schema');
    await refused(client.register(unknown, { schemaType: 'XML', schema: '{}' }), 422, 42201, 'Invalid schema type XML');
    await refused(client.updateCompatibility(unknown, 'SIDEWAYS'), 422, 42203, 'Invalid compatibility level.');
  },
};

async function main() {
  let number = 0;
  const all = { ...stories, ...require('./json_schema.cjs').stories, ...require('./protobuf.cjs').stories };
  for (const [story, tell] of Object.entries(all)) {
    number += 1;
    const failed = await tell(anotherClient(), `topic${number}`).then(() => null, (error) => error.stack);
    console.log(JSON.stringify({ story, failed }));
  }
}

main().then(() => process.exit(0));
