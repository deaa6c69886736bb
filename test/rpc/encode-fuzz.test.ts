import { create, type DescField, type DescMessage, fromBinary, type Message, ScalarType, toBinary } from '@bufbuild/protobuf'
import { nestedTypes, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect'
import { equal, ok } from 'uvu/assert'
import { file_agent_configuration } from '../../src/rpc/generated/agent_configuration_pb.ts'
import { file_agent_registrar } from '../../src/rpc/generated/agent_registrar_pb.ts'
import { file_agent_report } from '../../src/rpc/generated/agent_report_pb.ts'
import { file_agentcfg } from '../../src/rpc/generated/agentcfg_pb.ts'
import { file_gateway } from '../../src/rpc/generated/gateway_pb.ts'
import { file_gitops } from '../../src/rpc/generated/gitops_pb.ts'
import { file_grpctool, HttpRequestSchema, HttpResponseSchema } from '../../src/rpc/generated/grpctool_pb.ts'
import { file_reverse_tunnel } from '../../src/rpc/generated/reverse_tunnel_pb.ts'
import { PieceSchema } from '../../src/rpc/generated/workspaces_pb.ts'
import {
  ConnectRequestSchema,
  ConnectResponseSchema,
  encode,
  encodePiece,
  GatewayKasResponseSchema,
  ObjectsToSynchronizeResponseSchema,
} from '../../src/rpc/index.ts'
import { type Dice, dice, runSeed } from '../support/dice.ts'
import { rounds } from '../support/sample.ts'
import { describe } from '../support/suite.ts'

const FILES = [
  file_agent_configuration,
  file_agent_registrar,
  file_agent_report,
  file_agentcfg,
  file_gateway,
  file_gitops,
  file_grpctool,
  file_reverse_tunnel,
]
const MESSAGES = FILES.flatMap((file) => [...nestedTypes(file)].filter((type) => type.kind === 'message'))
/** Around the length from which bytes are not copied, and where a length takes one more byte. */
const LENGTHS = [0, 1, 127, 128, 1023, 1024, 1025, 16_383, 16_384, 2 ** 21 - 1, 2 ** 21]
const ROUNDS = rounds({ sample: 20, whole: 2000 })

/** In the middle of something larger, as what comes from a socket. */
const bytes = (length: number, first = 1): Uint8Array =>
  Buffer.alloc(length + 7, Uint8Array.of(first, 2, 3, 5, 8)).subarray(3, length + 3)

/** Some fields of a message, at most one of each choice, and now and then one that nobody knows. */
function messageOf(schema: DescMessage, roll: Dice, depth = 0): ReflectMessage {
  const message = reflect(schema)
  for (const member of schema.members) {
    const field = member.kind === 'oneof' ? member.fields[roll(member.fields.length + 1)] : roll(3) > 0 ? member : undefined
    if (field) fill(message, field, roll, depth)
  }
  if (roll(8) === 0) message.setUnknown([{ no: 5000, wireType: 2, data: Uint8Array.of(1, 7) }])
  return message
}

function fill(message: ReflectMessage, field: DescField, roll: Dice, depth: number): void {
  if (field.fieldKind === 'list') {
    for (let left = roll(3); left > 0; left--) message.get(field).add(scalarOrMessage(field, roll, depth))
  } else if (field.fieldKind === 'map') {
    for (let left = roll(3); left > 0; left--) message.get(field).set(`key-${left}`, scalarOrMessage(field, roll, depth))
  } else message.set(field, scalarOrMessage(field, roll, depth))
}

function scalarOrMessage({ message, enum: choices, scalar }: DescField, roll: Dice, depth: number): unknown {
  if (message) return depth > 5 ? reflect(message) : messageOf(message, roll, depth + 1)
  if (choices) return choices.values[roll(choices.values.length)]?.number
  const value = scalar && SCALARS[scalar]
  ok(value, `nobody has said what a scalar ${scalar} is like`)
  return value(roll)
}

const SCALARS: Partial<Record<ScalarType, (roll: Dice) => unknown>> = {
  [ScalarType.BOOL]: (roll) => roll(2) === 0,
  [ScalarType.BYTES]: (roll) => bytes(LENGTHS[roll(LENGTHS.length)] ?? 0, roll(256)),
  [ScalarType.DOUBLE]: (roll) => roll(1000) / 7,
  [ScalarType.INT32]: (roll) => roll(2 ** 32) - 2 ** 31,
  [ScalarType.INT64]: (roll) => BigInt(roll(2 ** 32)) - 7n,
  [ScalarType.SINT64]: (roll) => BigInt(roll(2 ** 32)) - 7n,
  [ScalarType.STRING]: (roll) => 'ü'.repeat(roll(800)),
  [ScalarType.UINT32]: (roll) => roll(2 ** 32),
  [ScalarType.UINT64]: (roll) => BigInt(roll(2 ** 32)),
}

const isEncodedAlike = (schema: DescMessage, message: Message, why: string): void =>
  ok(Buffer.compare(encode(schema, message), toBinary(schema, message)) === 0, why)

describe('encoding of messages', (it) => {
  it('gives pieces of a port as the library does', () => {
    for (const length of LENGTHS.slice(1)) {
      const data = bytes(length)
      ok(Buffer.from(encodePiece(data)).equals(toBinary(PieceSchema, create(PieceSchema, { data }))), `${length} bytes`)
    }
  })

  it('gives the bytes of the library, whatever is in a message', () => {
    for (const schema of MESSAGES) {
      const roll = dice(runSeed)
      for (let round = 0; round < ROUNDS; round++)
        isEncodedAlike(schema, messageOf(schema, roll).message, `${schema.typeName}, round ${round}`)
    }
  })

  it('gives the bytes of the library for bodies of any length', () => {
    for (const length of LENGTHS) {
      const value = { data: bytes(length) }
      const why = `${length} bytes`
      for (const schema of [HttpRequestSchema, HttpResponseSchema]) {
        isEncodedAlike(schema, create(schema, { message: { case: 'data', value } }), why)
        isEncodedAlike(schema, create(schema, { message: { case: 'upgradeData', value } }), why)
      }
      for (const schema of [ConnectRequestSchema, ConnectResponseSchema, GatewayKasResponseSchema])
        isEncodedAlike(schema, create(schema, { msg: { case: 'message', value } }), why)
      const object = { source: 'a', ...value }
      const carried = create(ObjectsToSynchronizeResponseSchema, { message: { case: 'object', value: object } })
      isEncodedAlike(ObjectsToSynchronizeResponseSchema, carried, why)
    }
  })

  it('forgets nothing that it does not know', () => {
    const strange = { no: 1000, wireType: 0, data: Uint8Array.of(1) }
    const body = create(HttpResponseSchema, { message: { case: 'data', value: { data: bytes(5000) } } })
    body.$unknown = [strange]
    isEncodedAlike(HttpResponseSchema, body, 'beside the body')
    body.$unknown = []
    ok(body.message.case === 'data')
    body.message.value.$unknown = [strange]
    isEncodedAlike(HttpResponseSchema, body, 'in the body')
  })

  it('does not change when the body does', () => {
    const data = bytes(5000)
    const encoded = encode(HttpResponseSchema, create(HttpResponseSchema, { message: { case: 'data', value: { data } } }))
    const before = Buffer.from(data)
    data.fill(0)
    const { message } = fromBinary(HttpResponseSchema, encoded)
    equal(message.case === 'data' && Buffer.compare(message.value.data, before), 0)
  })
})
