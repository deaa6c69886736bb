import { parseConfig, SETTINGS, start } from '../../kas/index.ts'
import { programVerb } from '../program-verb.ts'
import { versionOf } from '../version.ts'

export const verb = programVerb({
  description:
    'Run kas: the only holder of Git credentials. It fetches repositories and streams their files to the operator and to agents.',
  settings: SETTINGS,
  examples: [
    ['berth kas --kubeconfig ~/.kube/config', 'beside the cluster'],
    ['berth kas --listen 0.0.0.0:8150 --tls-cert tls.crt --tls-key tls.key', 'for agents elsewhere'],
  ],
  run: (flags, { env, home, signal }, log) => start(parseConfig(flags, env), signal, { log, version: versionOf(home) }),
})
