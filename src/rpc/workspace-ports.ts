import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { Failure } from '../std/index.ts'
import { encodeBytes } from './encode.ts'
import { type Piece, PieceSchema } from './generated/workspaces_pb.ts'

/** The method that kas asks pods of workspaces by, and by which kas itself is asked. */
export const CONNECT_PORT = '/berth.workspaces.rpc.Ports/Connect'

/** Metadata of calls to it, and of the tunnels that carry them. */
export const PORT_KEYS = {
  /** UID of the workspace that is asked for. */
  workspace: 'workspace-uid',
  /** Number of the port, in decimal. */
  port: 'workspace-port',
  /** `namespace/name` of the workspace that opens a tunnel. */
  tunnelOf: 'tunnel-of-workspace',
} as const

/** `data` is not empty. */
export const encodePiece = (data: Uint8Array): Uint8Array => encodeBytes(PieceSchema.field.data, data)

/** The first piece of an answer. */
export const portIsOpen = (): Uint8Array => toBinary(PieceSchema, create(PieceSchema, {}))

/** The last piece of an answer whose asking side may go on. */
export const allIsSaid = (): Uint8Array => toBinary(PieceSchema, create(PieceSchema, { end: true }))

export function decodePiece(bytes: Uint8Array): Piece {
  try {
    return fromBinary(PieceSchema, bytes)
  } catch (cause) {
    throw new Failure('invalid', 'a peer sent a message that cannot be read', { reason: 'OutOfOrder', cause })
  }
}

/** The number of a port as metadata has it; `undefined` when it is none. */
export function portIn(values: readonly string[] | undefined): number | undefined {
  const [text, ...more] = values ?? []
  const port = text !== undefined && more.length === 0 && /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0
  return port > 0 && port <= 65_535 ? port : undefined
}
