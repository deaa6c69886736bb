import * as assert from 'uvu/assert'
import { sentenceAbout } from '../../../src/engines/gitops/objects/change-set.ts'
import { Failure } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

const ID = { group: '', kind: 'Secret', namespace: 'team-a', name: 'db' }
const cause = { details: { causes: [{ field: 'data.password' }] } }
const said = (code: 'forbidden' | 'invalid', message: string) =>
  sentenceAbout(ID, new Failure(code, message, { reason: code === 'invalid' ? 'Invalid' : 'Forbidden', cause }))

describe('what is said about an object', (it) => {
  it('R13: never quotes what the server says about a Secret', () => {
    assert.is(said('invalid', 'data.password: "hunter2" is too short'), 'the API server refused it (Invalid): data.password')
    assert.is(
      said('forbidden', 'admission webhook "x" denied the request: User "a" cannot use "hunter2"'),
      'the API server refused it (Forbidden): data.password',
    )
  })

  it('names the right that is missing, for that says nothing of the Secret', () => {
    const right =
      'User "system:serviceaccount:team-a:shop" cannot patch resource "secrets" in API group "" in the namespace "team-a"'
    assert.is(said('forbidden', `secrets "db" is forbidden: ${right}`), right)
  })
})
