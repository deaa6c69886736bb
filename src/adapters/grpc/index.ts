/**
 * gRPC as the house speaks it: servers and connections built from the service definitions of src/rpc, with the keepalive
 * that load balancers need, Failures instead of status codes, and AbortSignals instead of cancel callbacks.
 * It decides nobody's access and knows no program. Read serve.ts and dial.ts first; object-stream.ts is the ready-made
 * client for the files of a GitProject.
 */
export {
  createObjectStream,
  type FollowOptions,
  type ObjectStream,
  type ObjectStreamOptions,
  type Wanted,
} from './object-stream.ts'
export { type Call, type GrpcServer, type Implementation, offer, type ServeOptions, type Service, serveGrpc } from './serve.ts'
