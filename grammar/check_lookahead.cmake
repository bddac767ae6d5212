# cmake -DPARSER=TercetParser.cpp -DSTAMP=file -P check_lookahead.cmake
file(STRINGS ${PARSER} predictions REGEX "adaptivePredict")
if(predictions)
  message(FATAL_ERROR "Tercet.g4 has a decision that one token of lookahead does not settle (see its head):\n${predictions}")
endif()
file(TOUCH ${STAMP})
