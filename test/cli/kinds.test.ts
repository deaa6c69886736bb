import { equal, is, match } from 'uvu/assert'
import { OWN_KINDS } from '../../src/api/index.ts'
import { KIND_WORDS, kindCalled, pathOf, wordForMany } from '../../src/cli/kinds.ts'
import { definitionsIn } from '../../src/cli/manifests.ts'
import { describe } from '../support/suite.ts'
import { berth, ROOT } from './berth.ts'

describe('the words for kinds', (it) => {
  it('are all that the API server understands', () => {
    for (const { definition } of definitionsIn(ROOT)) {
      const { group, names } = definition.spec
      const words = [names.kind, names.plural, names.singular ?? '', ...(names.shortNames ?? []), `${names.plural}.${group}`]
      for (const word of words) is(kindCalled(word)?.kind, names.kind, word)
    }
  })

  it('are one for each kind, and lead to one kind each', () => {
    const kinds = KIND_WORDS.map(kindCalled)
    equal(new Set(kinds), new Set(OWN_KINDS))
    for (const kind of OWN_KINDS) is(kindCalled(wordForMany(kind)), kind)
    is(kindCalled('deployments.apps'), undefined)
    is(kindCalled('toString'), undefined)
  })

  it('read back what names are printed by', () => {
    for (const kind of OWN_KINDS) is(kindCalled(pathOf(kind, 'x').split('/')[0] ?? ''), kind)
  })
})

describe('a name with its kind', (it) => {
  it('is refused where it is one of another kind, or none', async () => {
    const wrong: [words: string[], said: string][] = [
      [['tree', 'workspace/web'], 'That is of kind Workspace (berth.dev/v1alpha1), and GitOpsDeployment is asked for.'],
      [['tree', 'workspace/web'], 'Write it like web or deployment/web.'],
      [['suspend', 'team-a/shop'], 'Write it like shop or deployment/shop; a namespace goes behind -n.'],
      [['stop', 'deployment/shop'], 'That is of kind GitOpsDeployment'],
      [['poke', 'shop/'], 'Write it like NAME or project/NAME'],
      [['agent', 'kubeconfig', 'project/x'], 'and Agent is asked for'],
    ]
    for (const [words, said] of wrong) {
      const { code, stderr } = await berth(words)
      is(code, 2, words.join(' '))
      match(stderr.replaceAll(/\s+/g, ' '), said)
    }
  })
})
