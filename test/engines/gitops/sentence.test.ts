import * as assert from 'uvu/assert'
import { sayEntry, sentenceAbout } from '../../../src/engines/gitops/objects/change-set.ts'
import { Failure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const ID = { group: '', kind: 'Secret', namespace: 'team-a', name: 'db' }
const cause = { details: { causes: [{ field: 'data.password' }] } }
const said = (code: 'forbidden' | 'invalid', message: string) =>
  sentenceAbout(ID, new Failure(code, message, { reason: code === 'invalid' ? 'Invalid' : 'Forbidden', cause }))

const refused = (resource: string, group: string, where: string) => {
  const message = `${resource} "x" is forbidden: User "system:serviceaccount:team-a:default" cannot patch resource "${resource}" in API group "${group}" ${where}`
  return sentenceAbout({ ...ID, kind: 'Thing' }, new Failure('forbidden', message, { reason: 'Forbidden', cause }))
}
const IN = 'in the namespace "team-b"'

describe('what is said about an object', (it) => {
  it('R13: never quotes what the server says about a Secret', () => {
    assert.is(said('invalid', 'data.password: "hunter2" is too short'), 'the API server refused it (Invalid): data.password')
    assert.is(
      said('forbidden', 'admission webhook "x" denied the request: User "a" cannot use "hunter2"'),
      'the API server refused it (Forbidden): data.password',
    )
  })

  it('says how a service account gets the right that is missing, where a shipped role has it', () => {
    assert.match(refused('configmaps', '', IN), '-n team-b --clusterrole=edit --serviceaccount=team-a:default')
    assert.match(refused('rolebindings', 'rbac.authorization.k8s.io', IN), '--clusterrole=admin')
    for (const [resource, group] of [
      ['resourcequotas', ''],
      ['widgets', 'example.com'],
    ] as const)
      assert.match(refused(resource, group, IN), 'Give it a Role with that right in namespace team-b, or leave the object out')
    assert.match(refused('clusterroles', 'rbac.authorization.k8s.io', 'at the cluster scope'), 'Give it a ClusterRole')
  })

  it('puts the place in the repository behind the object, and a colon before what a server says', () => {
    const id = { group: '', kind: 'ConfigMap', namespace: 'team-a', name: 'a' }
    const entry = { id, change: 'failed', source: 'deploy/a.yaml:1' } as const
    assert.is(sayEntry({ ...entry, why: 'is kept by b' }), 'ConfigMap team-a/a (deploy/a.yaml:1) is kept by b')
    const failure = new Failure('invalid', 'x', { cause })
    assert.is(sayEntry({ ...entry, why: 'no.', failure }), 'ConfigMap team-a/a (deploy/a.yaml:1): no')
  })

  it('names the right that is missing, for that says nothing of the Secret', () => {
    const right =
      'User "system:serviceaccount:team-a:shop" cannot patch resource "secrets" in API group "" in the namespace "team-a"'
    const give =
      'Give it that right, for example with: kubectl create rolebinding shop-deploys -n team-a --clusterrole=edit --serviceaccount=team-a:shop'
    assert.is(said('forbidden', `secrets "db" is forbidden: ${right}`), `${right}. ${give}`)
  })
})
