import { parseConfig, SETTINGS, start } from '../../operator/index.ts'
import { programVerb } from '../program-verb.ts'
import { versionOf } from '../version.ts'
import { withRenderPrograms } from '../which.ts'

export const verb = programVerb({
  description: 'Run the operator: it reconciles every kind of Berth.',
  settings: SETTINGS,
  examples: [
    ['berth operator --kubeconfig ~/.kube/config', 'beside the cluster'],
    ['berth operator --namespace team-a --no-leader-election', 'a second one, for one team'],
  ],
  async run(flags, { env, cwd, home, signal }, log) {
    const config = withRenderPrograms(parseConfig(flags, env), { env, cwd })
    await start(config, signal, { log, version: versionOf(home) })
  },
})
