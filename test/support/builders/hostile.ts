/** Is true, and takes the square of as many steps as the data have keys. */
export const comparison = 'object.data.all(one, object.data.all(two, one != two || one == two))'

/** Ten copies of the list before, eight times: in CEL, the last comparison alone would take a hundred million steps. */
export const explosion = Array.from({ length: 8 }, (_, at) => `v${8 - at}`).reduce(
  (inner, name, at) => `[[${new Array(10).fill(at === 7 ? 'metadata' : `v${7 - at}`)}]].exists(${name}, ${inner})`,
  'v8 == v8',
)
