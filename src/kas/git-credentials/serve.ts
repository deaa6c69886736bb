import { type HttpServer, type ServeHttpOptions, serveHttp } from '../../adapters/http/index.ts'
import { answerPods, type CredentialsDesk } from './answer.ts'

export interface GitCredentialsServer extends CredentialsDesk, Pick<ServeHttpOptions, 'address' | 'tls'> {}

/** Listens for pods of workspaces. They have nothing to send but the request. */
export const serveGitCredentials = ({ address, tls, ...desk }: GitCredentialsServer): Promise<HttpServer> =>
  serveHttp({ address, tls, maxBytes: 1024, respond: answerPods(desk), clock: desk.clock, log: desk.log })
