import { parseConfig, SETTINGS, start } from '../../certificates/index.ts'
import { programVerb } from '../program-verb.ts'

export const verb = programVerb({
  description:
    'Make the certificates of kas and the proxy, and renew them, by an authority of this installation. What somebody else put into their Secrets is left alone.',
  settings: SETTINGS,
  examples: [
    ['berth certificates', 'as the pod that deploy/certificates/program starts'],
    ['berth certificates --kas-names kas.example.com', 'where agents reach kas by that name'],
  ],
  run: (flags, { env, signal }, log) => start(parseConfig(flags, env), signal, { log }),
})
