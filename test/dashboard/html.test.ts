import { equal, is } from 'uvu/assert'
import { html, linkTo, markupOf } from '../../src/dashboard/html.ts'
import { isHarmless } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'
import { parseHtml, wordsIn } from './markup.ts'

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title></textarea></pre><svg onload=alert(1)>',
  '&lt;b&gt; & &amp;',
  '<!--><script>',
  '${1}`',
  'exe.\u202Egnp',
  'a\u0000b\u0085c',
]

describe('the template of pages', (it) => {
  it('takes every text for a text, in elements and in attributes', () => {
    for (const text of HOSTILE) {
      const page = parseHtml(markupOf(html`<p title="${text}">${text}</p>`))
      const [paragraph] = page.children
      if (typeof paragraph !== 'object') throw new TypeError('no element')
      equal([page.children.length, paragraph.children.length, paragraph.attributes.size], [1, 1, 1])
      is(paragraph.attributes.get('title'), paragraph.children[0])
      // What is harmless is there as it was.
      if (isHarmless(text)) is(wordsIn(paragraph), text.replace(/\s+/g, ' ').trim())
    }
  })

  it('takes for markup only what it has made', () => {
    is(
      markupOf(html`<ul>${['<a>', html`<li>${1}</li>`, false, undefined, [html`<b>x</b>`]]}</ul>`),
      '<ul>&lt;a&gt;<li>1</li><b>x</b></ul>',
    )
  })

  it('leads to hosts by TLS only', () => {
    for (const url of [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      ' data:text/html,x',
      'http://a.example/',
      '//a.example',
      '',
      'x',
    ])
      is(linkTo(url), undefined, url)
    is(linkTo('https://a.example/"><script>'), 'https://a.example/%22%3E%3Cscript%3E')
  })
})
