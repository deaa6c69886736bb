import { groupVerb } from '../verb.ts'
import { helm } from './helm.ts'

export const verb = groupVerb({
  description: 'Take over what other tools have applied, as it stands.',
  examples: [['berth adopt helm shop -n team-a --project charts --path shop', 'a release of Helm']],
  parts: [{ name: 'helm', summary: 'take a release of Helm over', ...helm }],
})
