import { parseConfig, SETTINGS, start } from '../../operator/index.ts'
import { programVerb } from '../program-verb.ts'
import { versionOf } from '../version.ts'
import { which, whichIfAny } from '../which.ts'

export const verb = programVerb({
  description: 'Run the operator: it reconciles every kind of Berth.',
  settings: SETTINGS,
  examples: [
    ['berth operator --kubeconfig ~/.kube/config', 'beside the cluster'],
    ['berth operator --namespace team-a --no-leader-election', 'a second one, for one team'],
  ],
  async run(flags, { env, cwd, home, signal }, log) {
    const config = parseConfig(flags, env)
    const kubectl = which(config.kubectl, env.PATH, cwd)
    const helm = whichIfAny(config.helm, env.PATH, cwd)
    await start({ ...config, kubectl, helm }, signal, { log, version: versionOf(home) })
  },
})
