import { parseConfig, SETTINGS, start } from '../../agent/index.ts'
import { programVerb } from '../program-verb.ts'
import { versionOf } from '../version.ts'
import { withRenderPrograms } from '../which.ts'

/** `berth agent run` */
export const defineRun = programVerb({
  description: 'Run the agent: it brings about in this cluster what the manifest projects of its configuration say.',
  settings: SETTINGS,
  examples: [
    ['berth agent run --kas-address grpcs://kas.example.com --token-file /config/token', 'in a pod'],
    ['berth agent run --kas-address grpc://127.0.0.1:8150 --token-file t --namespace x --pod-name me', 'by hand'],
  ],
  async run(flags, { env, cwd, home, signal }, log) {
    const config = withRenderPrograms(parseConfig(flags, env), { env, cwd })
    await start(config, signal, { log, version: `v${versionOf(home)}` })
  },
}).define
