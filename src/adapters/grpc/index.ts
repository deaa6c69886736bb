/**
 * gRPC as the house speaks it: servers and connections built from the service definitions of src/rpc, with the keepalive
 * that load balancers need, Failures instead of status codes, and AbortSignals instead of cancel callbacks.
 * It decides nobody's access and knows no program. Read serve.ts, offer.ts and dial.ts first, then port.ts: HTTP/2 and WebSockets
 * on one port, and who is turned away there. port-line.ts makes a connection to a port out of a call; object-stream.ts is the ready-made client for the files of a GitProject.
 */
export { type CallOptions, type DialOptions, dial, type GrpcConnection } from './dial.ts'
export type { Duplex } from './duplex.ts'
export type { TextMetadata } from './metadata.ts'
export { addressesBehind, isOwnAddress } from './neighbours.ts'
export {
  createObjectStream,
  type ObjectStream,
  objectStreamOver,
  type WantedFiles,
} from './object-stream.ts'
export { type Call, type Door, type GrpcService, type Implementation, offer, offerRaw, type RawHandler } from './offer.ts'
export type { TurnedAway } from './port.ts'
export { openLine, type WorkspacePort } from './port-line.ts'
export { type ConnectionAge, type GrpcServer, type ServeLimits, type ServeOptions, serveGrpc } from './serve.ts'
export { type CallEnd, CallEnded, endFrom, failureFromEnd, UNIMPLEMENTED } from './status.ts'
