import { parseConfig, SETTINGS, start } from '../../agentw/index.ts'
import { programVerb } from '../program-verb.ts'
import { versionOf } from '../version.ts'

export const verb = programVerb({
  description:
    'Run in the pod of a workspace, and let people into its ports through kas. The operator starts it where the class says so.',
  settings: SETTINGS,
  examples: [['berth agentw --kas-address grpcs://kas --token-file token --workspace a/w', 'in its pod']],
  run: (flags, { env, home, signal }, log) => start(parseConfig(flags, env), signal, { log, version: `v${versionOf(home)}` }),
})
