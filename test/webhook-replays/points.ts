/** Where the worker dies on its way through a replay: before and after the commit of each batch. */
export const uncommittedPoints = ['replay: position not yet moved', 'replay: not yet committed']
export const committedPoint = 'replay: committed'
