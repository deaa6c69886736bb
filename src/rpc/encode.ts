import { type DescField, type DescMessage, type MessageShape, ScalarType, toBinary } from '@bufbuild/protobuf'

/** Least bytes for which it pays. */
const WORTHWHILE = 1024
const LENGTH_DELIMITED = 2

/**
 * The message as bytes, as `toBinary` gives them. Bodies travel as bytes in a message in a choice; the library would copy these
 * four times, and here it is once.
 */
export function encode<D extends DescMessage>(schema: D, message: MessageShape<D>): Uint8Array {
  const [choice] = schema.oneofs
  // Nothing else may be set than the one that was chosen.
  if (!choice || choice.fields.length !== schema.fields.length || message.$unknown?.length) return toBinary(schema, message)
  const chosen: unknown = Reflect.get(message, choice.localName)
  if (!(chosen instanceof Object && 'case' in chosen && 'value' in chosen)) return toBinary(schema, message)
  const outer = choice.fields.find(({ localName }) => localName === chosen.case)
  const inner = outer && onlyBytesOf(outer)
  const { value } = chosen
  if (!inner || !(value instanceof Object) || Reflect.get(value, '$unknown') !== undefined) return toBinary(schema, message)
  const data: unknown = Reflect.get(value, inner.localName)
  if (!(data instanceof Uint8Array) || data.length < WORTHWHILE) return toBinary(schema, message)
  const headOfData = head(inner.number, data.length)
  const headOfAll = head(outer.number, headOfData.length + data.length)
  return Buffer.concat([headOfAll, headOfData, data])
}

/** The field of a message that has no other, if it is one of bytes. */
function onlyBytesOf({ message }: DescField): DescField | undefined {
  const [field, ...more] = message?.fields ?? []
  const isBytes = field?.fieldKind === 'scalar' && field.scalar === ScalarType.BYTES
  return isBytes && more.length === 0 ? field : undefined
}

/** A message in which nothing but this field of bytes is set, as `toBinary` gives it, with one copy of them in the place of three. */
export const encodeBytes = ({ number }: DescField, data: Uint8Array): Uint8Array =>
  Buffer.concat([head(number, data.length), data])

/** The tag and the length that precede so many bytes in the field of that number. */
const head = (field: number, length: number): Uint8Array =>
  Uint8Array.from([...varint(field * 8 + LENGTH_DELIMITED), ...varint(length)])

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return [...bytes, rest]
}
