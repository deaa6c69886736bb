import { parseConfig, SETTINGS, start } from '../../proxy/index.ts'
import { programVerb } from '../program-verb.ts'
import { versionOf } from '../version.ts'

export const verb = programVerb({
  description:
    'Run the proxy: the way of browsers into workspaces. It has people sign in, and lets in whom a workspace is shared with.',
  settings: SETTINGS,
  examples: [
    ['berth proxy --url https://sign-in.ws.example.com', 'the provider by BERTH_OIDC_ISSUER and BERTH_OIDC_CLIENT_ID'],
    ['berth proxy --listen 0.0.0.0:8443 --tls-cert tls.crt --tls-key tls.key', 'nothing before it'],
  ],
  run: (flags, { env, home, signal }, log) => start(parseConfig(flags, env), signal, { log, version: versionOf(home) }),
})
