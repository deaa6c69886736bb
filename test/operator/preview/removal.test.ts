import { equal, is, match } from 'uvu/assert'
import { annotations, conditionOf, DeploymentTargetClaims, Environments, isTrue } from '../../../src/api/index.ts'
import { minutes } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'
import { expectGone, expectObject } from '../../support/verbs.ts'
import { previewStage } from './stage.ts'

const [LOGIN, CART, PAY] = ['refs/heads/login b1', 'refs/heads/cart c1', 'refs/heads/pay d1']

describe('a Preview whose repository is another one', (it) => {
  const stage = previewStage(it)
  const { kube, ref, create, change, tell, said, branches, there, eventOf } = stage
  const ofOld = async () =>
    Promise.all(
      ['shop-cart', 'shop-login'].map(
        async (name) => (await expectObject(kube, DeploymentTargetClaims, ref(name), () => true)).metadata.uid,
      ),
    )

  it('keeps what there was until somebody says that it may go, and makes what is new', async () => {
    await create()
    await said('WaitingForRepository')
    await tell([CART, LOGIN])
    await there('shop-cart', 'shop-login')
    const uids = await ofOld()
    await tell([PAY])
    const message = 'all 2 environments that there were would go, because the repository has their branches no more.'
    await said('RemovalHeld', (one, words) => {
      branches('cart', 'login', 'pay')(one)
      match(words, `${message} If that is meant, set spec.removal.allowEmpty to true.`)
      is(isTrue(one.status?.conditions, 'RemovalHeld'), true)
      equal(
        one.status?.environments?.map(({ reason }) => reason),
        ['BranchGone', 'BranchGone', 'Provisioning'],
      )
    })
    await eventOf('RemovalHeld', message)
    await there('shop-cart', 'shop-login', 'shop-pay')

    await stage.restart(minutes(30))
    await tell([PAY])
    await said('RemovalHeld', branches('cart', 'login', 'pay'))
    await change({ suspend: true })
    await said('Suspended', ({ status }) => is(isTrue(status?.conditions, 'RemovalHeld'), true))
    await change({ suspend: false })
    await said('RemovalHeld', branches('cart', 'login', 'pay'))
    equal(await ofOld(), uids)
    // What is only tried gives nothing away.
    for (const trial of [{ removal: { allowEmpty: true } }, { branches: { except: ['cart', 'login'] } }]) {
      await change({ suspend: true, ...trial })
      await said('Suspended', (_, words) => match(words, '2 to remove (shop-cart, shop-login)'))
      await change({ suspend: false, removal: null, branches: { except: null } })
      await said('RemovalHeld', branches('cart', 'login', 'pay'))
      equal(await ofOld(), uids)
    }
    // Nor does a branch that is there again give the other one away.
    await tell([PAY, CART])
    await said('RemovalHeld', ({ status }) =>
      equal(
        status?.environments?.filter(({ reason }) => reason === 'BranchGone').map(({ branch }) => branch),
        ['login'],
      ),
    )
    equal(await ofOld(), uids)
    await tell([PAY])

    await change({ removal: { allowEmpty: true } })
    await there('shop-pay')
    await said('EnvironmentsNotReady', (one) => {
      branches('pay')(one)
      is(conditionOf(one.status?.conditions, 'RemovalHeld')?.reason, 'NothingHeld')
    })
  })

  it('lets go what somebody ends, and has all of it again when the branches come back', async () => {
    await create()
    await said('WaitingForRepository')
    await tell([CART, LOGIN, PAY])
    await there('shop-cart', 'shop-login', 'shop-pay')
    const uids = await ofOld()
    await tell([])
    await said('RemovalHeld', branches('cart', 'login', 'pay'))
    await kube.patch(Environments, ref('shop-pay'), { metadata: { annotations: { [annotations.previewExpire]: 'd1' } } })
    await expectGone(kube, DeploymentTargetClaims, ref('shop-pay'))
    await said('RemovalHeld', (one, words) => {
      branches('cart', 'login')(one)
      match(words, 'all 2 environments')
    })
    await tell([CART, LOGIN])
    await said('EnvironmentsNotReady', branches('cart', 'login'))
    await there('shop-cart', 'shop-login')
    equal(await ofOld(), uids)
  })
})
