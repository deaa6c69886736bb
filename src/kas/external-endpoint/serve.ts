import { createVerifier } from '../../adapters/auth/index.ts'
import { type GrpcServer, type ServeOptions, serveGrpc } from '../../adapters/grpc/index.ts'
import type { Config } from '../config.ts'
import { sharedSecret } from '../shared-secret.ts'
import { createServices, type Desk } from './services.ts'

export interface ExternalEndpoint
  extends Omit<Desk, 'verify' | 'patience'>,
    Pick<ServeOptions, 'tls' | 'onTurnedAway' | 'clock' | 'log'> {
  config: Pick<Config, 'api' | 'apiSecret' | 'agentWait'>
}

/** Of whoever asks, as GitLab does. */
const ISSUER = 'gitlab'
const AUDIENCE = 'gitlab-kas'

/** `undefined` when it is off. Stop it before what carries the calls to agents. */
export async function serveExternalEndpoint(given: ExternalEndpoint): Promise<GrpcServer | undefined> {
  const { config, tls, onTurnedAway, clock, log } = given
  if (config.apiSecret === undefined) return undefined
  const secret = await sharedSecret(config.apiSecret, '--api-secret')
  const verify = createVerifier({ secret, issuer: ISSUER, audience: AUDIENCE, clock })
  const services = createServices({ ...given, verify, patience: config.agentWait })
  return serveGrpc({ address: config.api, tls, services, onTurnedAway, clock, log })
}
